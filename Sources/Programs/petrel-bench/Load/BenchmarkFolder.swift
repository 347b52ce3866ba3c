import Foundation

/// Folders that benchmarks make.
enum BenchmarkFolder {
  /// Removes a folder with what is in it, if it is there.
  static func remove(_ path: String) {
    // What cannot be removed is in the way when the folder is made again, which is reported then.
    try? FileManager.default.removeItem(atPath: path)
  }
}
