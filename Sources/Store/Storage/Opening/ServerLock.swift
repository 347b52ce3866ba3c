import Foundation
import StoreModel

/// The lock by which only one server opens a store in a file: an advisory lock (`flock`) on a
/// second file beside the store's file.
///
/// Its name is that of the store's file with `.lock`. It is not deleted with the lock, which the
/// kernel releases when the process ends.
package final class ServerLock: @unchecked Sendable {
  // The descriptor does not change after `init`, and only `deinit` closes it.
  private let descriptor: Int32

  /// The call may block for a tenth of a second. There is a hundredth between two attempts. One is
  /// not enough for a server, because another process may be testing the lock
  /// (``isHeld(forStoreAt:)``).
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if another server has the lock, or if the lock file
  ///   cannot be opened or created.
  package init(forStoreAt path: String, attempts: Int = 10) throws {
    let lockPath = path + ".lock"
    descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreError(
        .cannotOpen,
        "the lock file '\(lockPath)' cannot be created: \(String(cString: strerror(errno)))")
    }
    guard Self.lock(descriptor, attempts: attempts) else {
      // `deinit` closes the descriptor: every property has its value when the error is thrown.
      throw StoreError(
        .cannotOpen,
        "another server has the store at '\(path)' open; stop it first, or give this one "
          + "another store")
    }
  }

  deinit { close(descriptor) }

  /// Acquires a shared lock for a moment. False without a lock file, or if this process cannot
  /// read it. `path` is the store's file.
  package static func isHeld(forStoreAt path: String) -> Bool {
    let descriptor = open(path + ".lock", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  private static func lock(_ descriptor: Int32, attempts: Int) -> Bool {
    for attempt in 1...attempts {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      // The thread that opens the store may block: the server has not started yet.
      if attempt < attempts { usleep(10_000) }
    }
    return false
  }
}
