import Foundation

/// A file or folder of the repository, for tests that compare the program with its sources and pages.
public enum RepositoryFile {
  /// - Parameter path: from the root of the repository, such as `docs/reference/openapi.yaml`.
  public static func url(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// Returns the contents of a text file.
  public static func text(_ path: String) throws -> String {
    try String(contentsOf: url(path), encoding: .utf8)
  }

  private static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }
}
