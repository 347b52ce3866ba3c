import Cryptography
import Dispatch
import Foundation
import Glibc

/// The file system's part in keeping assets. Its calls block, so they run on a queue of their own;
/// each request has at most one of them under way.
enum AssetFiles {
  private static let queue = DispatchQueue(label: "petrel.assets", attributes: .concurrent)

  static func perform<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  static func failure(_ action: String, _ path: String) -> StoreError {
    StoreError(
      .assetFailed, "the file \(path) cannot \(action): \(String(cString: strerror(errno)))")
  }

  static func write(_ data: Data, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("be made", path) }
    defer { close(descriptor) }
    var written = 0
    while written < data.count {
      let count = data.withUnsafeBytes { bytes in
        Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, data.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        let failure = failure("be written", path)
        unlink(path)
        throw failure
      }
      written += count
    }
  }

  /// Waits until a file's bytes, or the names in a folder, are on the disk.
  static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("be opened", path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("be synced", path) }
  }

  /// The SHA-256 of a file's bytes, in hexadecimal digits.
  static func checksum(of path: String) throws -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("be opened", path) }
    defer { close(descriptor) }
    let hasher = SHA256Hasher()
    var piece = Data(count: 1 << 20)
    while true {
      let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("be read", path) }
      if count == 0 { return SQLValue.hexadecimal(hasher.finish()) }
      hasher.update(piece.prefix(count))
    }
  }

  /// Makes a folder and those above it, durably.
  static func makeFolder(_ path: String) throws {
    if mkdir(path, 0o700) != 0 {
      if errno == EEXIST { return }
      guard errno == ENOENT else { throw failure("be made", path) }
      try makeFolder((path as NSString).deletingLastPathComponent)
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("be made", path) }
    }
    do {
      try sync((path as NSString).deletingLastPathComponent)
    } catch {
      // Whoever finds it there takes its name to be on the disk.
      rmdir(path)
      throw error
    }
  }

  /// Moves a file; between file systems by way of a copy.
  static func move(_ source: String, to target: String) throws {
    if rename(source, target) == 0 { return }
    guard errno == EXDEV else { throw failure("be moved to \(target)", source) }
    let copy = target + "~"
    unlink(copy)
    do {
      try FileManager.default.copyItem(atPath: source, toPath: copy)
    } catch {
      throw StoreError(.assetFailed, "the asset file \(source) cannot be copied: \(error)")
    }
    try sync(copy)
    guard rename(copy, target) == 0 else { throw failure("be moved to \(target)", copy) }
    unlink(source)
  }
}
