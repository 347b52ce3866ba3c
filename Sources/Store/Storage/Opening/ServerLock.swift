import Foundation
import StoreModel

/// The lock by which only one server opens a store in a file: an advisory lock (`flock`) on a
/// second file beside the store's file.
///
/// The name of the lock file is the name of the store's file with `.lock`. The lock file is not
/// deleted when the lock is released. The kernel releases the lock when the process ends, even
/// after a crash.
package final class ServerLock: @unchecked Sendable {
  // The descriptor does not change after `init`, and only `deinit` closes it.
  private let descriptor: Int32

  /// Acquires the lock, and creates the lock file if there is none. The call may block for a tenth
  /// of a second.
  ///
  /// - Parameters:
  ///   - path: the path of the store's file.
  ///   - attempts: the number of attempts, with a hundredth of a second between them. One attempt is
  ///     not enough for a server, because another process may be testing the lock
  ///     (``isHeld(forStoreAt:)``).
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

  /// Returns whether a server has the lock. To test it, the method acquires a shared lock for a
  /// moment.
  ///
  /// The result is false if there is no lock file, or if this process cannot read the file.
  ///
  /// - Parameter path: the path of the store's file.
  package static func isHeld(forStoreAt path: String) -> Bool {
    let descriptor = open(path + ".lock", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  /// Tries to acquire the lock, and returns whether it succeeded.
  private static func lock(_ descriptor: Int32, attempts: Int) -> Bool {
    for attempt in 1...attempts {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      // The thread that opens the store may block: the server has not started yet.
      if attempt < attempts { usleep(10_000) }
    }
    return false
  }
}
