import Foundation
import StoreModel

/// The lock of a server on its store: an advisory lock (`flock`) on a file beside the store's.
///
/// The file has the store's name and `.lock`. It stays when the lock is released. The kernel
/// releases the lock when the process ends in any way.
package final class ServerLock: @unchecked Sendable {
  // Immutable after init and closed once, in deinit.
  private let descriptor: Int32

  /// Takes the lock, and creates its file if there is none.
  ///
  /// - Parameter path: the path of the store's file.
  /// - Throws: ``StoreError/Code/cannotOpen`` if another server holds the lock or the file cannot
  ///   be created.
  package init(forStoreAt path: String) throws {
    let lockPath = path + ".lock"
    descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreError(
        .cannotOpen,
        "the lock file '\(lockPath)' cannot be created: \(String(cString: strerror(errno)))")
    }
    guard Self.lock(descriptor) else {
      close(descriptor)
      throw StoreError(
        .cannotOpen,
        "another server has the store at '\(path)' open; stop it first, or give this one "
          + "another store")
    }
  }

  deinit { close(descriptor) }

  /// Whether a server holds the lock.
  ///
  /// The test takes a shared lock for a moment. It is false if there is no lock file, or if this
  /// process cannot read it.
  package static func isHeld(forStoreAt path: String) -> Bool {
    let descriptor = open(path + ".lock", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  /// Tries for a tenth of a second: another process may be testing the lock.
  private static func lock(_ descriptor: Int32) -> Bool {
    for _ in 0..<10 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      // Before the server starts, on the thread that opens the store.
      usleep(10_000)
    }
    return false
  }
}
