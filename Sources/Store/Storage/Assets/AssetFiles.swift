import Cryptography
import Dispatch
import Foundation
import Glibc
import SQLEngine
import StoreModel

/// File operations for assets, backups and folders of a store.
///
/// The functions block the calling thread, except ``perform(_:)``. It runs blocking calls on a
/// queue of their own, so that the threads of Swift's tasks do not block. The caller waits for the
/// result, so each caller uses at most one thread of the queue.
///
/// A failed call throws ``StoreError/Code/assetFailed`` with the path and the system's message.
package enum AssetFiles {
  /// The queue is concurrent, so a slow call does not delay the others.
  private static let queue = DispatchQueue(label: "petrel.assets", attributes: .concurrent)

  static func perform<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  /// Arriving files do not count. A missing folder has no files.
  static func hasFiles(inFolderAt path: String) -> Bool {
    guard let names = FileManager.default.enumerator(atPath: path) else { return false }
    while let name = names.nextObject() as? String {
      if name == "arrivals" {
        names.skipDescendants()
      } else if names.fileAttributes?[.type] as? FileAttributeType == .typeRegular {
        return true
      }
    }
    return false
  }

  package static func size(of path: String) -> Int? {
    var information = stat()
    return stat(path, &information) == 0 ? Int(information.st_size) : nil
  }

  /// Call this function before another system call changes `errno`.
  ///
  /// - Parameter action: the failed action in the passive, such as "be opened".
  package static func failure(_ action: String, _ path: String) -> StoreError {
    StoreError(
      .assetFailed, "the file \(path) cannot \(action): \(String(cString: strerror(errno)))")
  }

  /// Creates a file that only the process's user can read. A failed call leaves no incomplete file.
  /// To make the bytes durable, call ``sync(_:)`` afterwards.
  ///
  /// - Throws: ``StoreError/Code/assetFailed``, also if there is a file at `path` already.
  package static func write(_ data: Data, to path: String) throws {
    try make(path) { descriptor in try append(data, to: descriptor, path) }
  }

  /// Copies a file's bytes, without its permissions, into a new file that only the process's user
  /// can read. A failed call leaves no incomplete file.
  ///
  /// - Throws: ``StoreError/Code/assetFailed``, also if there is a file at `path` already.
  package static func copy(_ source: String, to path: String) throws {
    let origin = open(source, O_RDONLY | O_CLOEXEC)
    guard origin >= 0 else { throw failure("be opened", source) }
    defer { close(origin) }
    try make(path) { descriptor in
      try readPieces(of: origin, source) { try append($0, to: descriptor, path) }
    }
  }

  private static func make(_ path: String, _ fill: (Int32) throws -> Void) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("be made", path) }
    defer { close(descriptor) }
    do {
      try fill(descriptor)
    } catch {
      unlink(path)
      throw error
    }
  }

  private static func append(_ data: Data, to descriptor: Int32, _ path: String) throws {
    var written = 0
    while written < data.count {
      let count = data.withUnsafeBytes { bytes in
        Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, data.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("be written", path) }
      written += count
    }
  }

  private static func readPieces(
    of descriptor: Int32, _ path: String, _ take: (Data) throws -> Void
  ) throws {
    var piece = Data(count: 1 << 20)
    while true {
      let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("be read", path) }
      if count == 0 { return }
      try take(piece.prefix(count))
    }
  }

  /// Waits until a file's bytes, or the names in a folder, are on the disk.
  package static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("be opened", path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("be synced", path) }
  }

  /// Returns the SHA-256 of a file's bytes, in hexadecimal digits.
  package static func checksum(of path: String) throws -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("be opened", path) }
    defer { close(descriptor) }
    let hasher = SHA256Hasher()
    try readPieces(of: descriptor, path) { hasher.update($0) }
    return hasher.finish().hexadecimal
  }

  /// Returns the folder that contains a path's last component; empty for a name without a folder.
  /// Slashes at the end of the path are ignored.
  ///
  /// The method of `NSString` is not used, because it ends the process for a name of one letter.
  ///
  /// ```swift
  /// AssetFiles.folder(of: "/var/petrel/store.sqlite")  // "/var/petrel"
  /// AssetFiles.folder(of: "store.sqlite")  // ""
  /// AssetFiles.folder(of: "/store.sqlite")  // "/"
  /// ```
  package static func folder(of path: String) -> String {
    let whole = path.dropLast(while: "/")
    guard let slash = whole.lastIndex(of: "/") else { return path.hasPrefix("/") ? "/" : "" }
    let folder = whole[..<slash].dropLast(while: "/")
    return folder.isEmpty ? "/" : String(folder)
  }

  /// Creates a folder and its missing parents, which only the process's user can open. An existing
  /// folder stays as it is.
  ///
  /// - Parameter isDurable: whether the names of the new folders are on the disk when the call
  ///   returns.
  package static func makeFolder(_ path: String, isDurable: Bool = true) throws {
    let parent = folder(of: path)
    if mkdir(path, 0o700) != 0 {
      if errno == EEXIST { return }
      guard errno == ENOENT else { throw failure("be made", path) }
      try makeFolder(parent, isDurable: isDurable)
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("be made", path) }
    }
    guard isDurable else { return }
    do {
      try sync(parent.isEmpty ? "." : parent)
    } catch {
      // The new folder must not stay: a later call that finds the folder assumes that its name is
      // on the disk.
      rmdir(path)
      throw error
    }
  }

  /// Moves a file or a folder to `target`. A file at `target` is replaced.
  ///
  /// To another file system, the function copies the file to `target~`, syncs the copy and renames
  /// it, so `target` is never incomplete. Call ``sync(_:)`` on the folder of `target` to make the
  /// new name durable.
  package static func move(_ source: String, to target: String) throws {
    if rename(source, target) == 0 { return }
    guard errno == EXDEV else { throw failure("be moved to \(target)", source) }
    let copy = target + "~"
    unlink(copy)
    try Self.copy(source, to: copy)
    try sync(copy)
    guard rename(copy, target) == 0 else { throw failure("be moved to \(target)", copy) }
    unlink(source)
  }
}

extension StringProtocol {
  fileprivate func dropLast(while character: Character) -> SubSequence {
    self[..<(lastIndex { $0 != character }.map { index(after: $0) } ?? startIndex)]
  }
}
