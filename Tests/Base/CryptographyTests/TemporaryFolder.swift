import Foundation

/// A folder that is removed with its content when the last reference goes.
final class TemporaryFolder {
  private let root: URL

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: root)
  }

  func url(_ name: String) -> URL { root.appending(path: name) }
  func path(_ name: String) -> String { url(name).path }
}
