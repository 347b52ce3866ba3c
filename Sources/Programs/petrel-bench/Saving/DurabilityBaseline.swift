import CommandInterface
import Foundation

/// The baseline for saves: the rate at which the disk makes small appends to a file durable.
enum DurabilityBaseline {
  /// Appends 512 bytes to a file repeatedly, for a number of seconds. After each append, it calls
  /// `fdatasync`, which waits until the bytes are on the disk.
  ///
  /// - Returns: The appends a second.
  /// - Throws: `UsageError` if the file cannot be written.
  static func measure(in directory: String, seconds: Double) throws -> Double {
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    let path = directory + "/baseline"
    let descriptor = open(path, O_CREAT | O_WRONLY | O_APPEND, 0o600)
    guard descriptor >= 0 else { throw UsageError("cannot write \(path)") }
    defer {
      close(descriptor)
      unlink(path)
    }
    let block = [UInt8](repeating: 0x55, count: 512)
    let start = monotonicSeconds()
    var appends = 0
    while monotonicSeconds() - start < seconds {
      guard write(descriptor, block, block.count) == block.count, fdatasync(descriptor) == 0 else {
        throw UsageError("cannot write \(path): \(String(cString: strerror(errno)))")
      }
      appends += 1
    }
    return Double(appends) / (monotonicSeconds() - start)
  }
}
