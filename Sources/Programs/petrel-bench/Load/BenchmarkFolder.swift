import Foundation

/// The folders that benchmarks create for their data.
enum BenchmarkFolder {
  /// Removes a folder with its contents. The method does nothing if the folder does not exist.
  static func remove(_ path: String) {
    // An error is ignored. If the folder cannot be removed, a later step fails and reports the
    // reason.
    try? FileManager.default.removeItem(atPath: path)
  }
}
