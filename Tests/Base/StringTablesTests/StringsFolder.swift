import Foundation

/// A folder of strings for one test.
struct StringsFolder: ~Copyable {
  let url: URL

  /// - Parameter files: The texts of the files by their paths in the folder.
  init(_ files: [String: String]) throws {
    try self.init(data: files.mapValues { Data($0.utf8) })
  }

  init(data files: [String: Data]) throws {
    url = URL(fileURLWithPath: NSTemporaryDirectory() + "petrel-strings-" + UUID().uuidString)
    for (path, data) in files {
      let file = url.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: file)
    }
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}
