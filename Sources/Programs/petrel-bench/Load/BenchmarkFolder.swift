import Foundation

/// The folders that benchmarks create for their data.
enum BenchmarkFolder {
  /// Removes a folder with its contents; does nothing if it does not exist.
  static func remove(_ path: String) {
    // If the folder cannot be removed, creating it again fails and reports the reason.
    try? FileManager.default.removeItem(atPath: path)
  }
}
