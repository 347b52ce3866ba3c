import Foundation
import StoreModel

/// The renewal of a write-ahead log: it is rewritten in place with the same bytes, and synced.
///
/// A killed process, or one whose disk failed, may have left pages in the log that never reached
/// the disk. After a failed `fsync`, Linux reports the error once and marks the pages clean. Linux
/// returns these pages to readers until it needs their memory. A later `fsync` then has nothing to
/// write. Only rewritten data is safe (Rebello et al., "Can Applications Recover from fsync
/// Failures?", 2020).
enum LogRenewal {
  private static let pieceBytes = 1 << 20

  /// Rewrites and syncs a log. A missing log needs nothing. No connection may write to the log
  /// meanwhile.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the log cannot be opened, read, written or synced.
  static func renew(logAt path: String) throws {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return }
      throw failure("opened", path)
    }
    defer { close(descriptor) }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 4_096)
    defer { memory.deallocate() }
    var place: off_t = 0
    while true {
      let count = pread(descriptor, memory.baseAddress, memory.count, place)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("read", path) }
      if count == 0 { break }
      try write(UnsafeRawBufferPointer(rebasing: memory[..<count]), to: descriptor, at: place, path)
      place += off_t(count)
    }
    guard place == 0 || fsync(descriptor) == 0 else { throw failure("synced", path) }
  }

  /// A system call may write fewer bytes.
  private static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at place: off_t, _ path: String
  ) throws {
    var written = 0
    while written < bytes.count {
      let count = pwrite(
        descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
        place + off_t(written))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("written", path) }
      written += count
    }
  }

  private static func failure(_ action: String, _ path: String) -> StoreError {
    StoreError(
      .cannotOpen,
      "'\(path)' cannot be \(action): \(String(cString: strerror(errno))). No data is lost; check "
        + "the disk (dmesg), and start again")
  }
}
