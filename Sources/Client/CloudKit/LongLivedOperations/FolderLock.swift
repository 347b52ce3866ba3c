/// An exclusive lock on a folder. At most one object in all processes has the lock.
///
/// The lock is a `flock` on the file `lock` in the folder. The system releases the lock when the
/// process ends for any reason. Releasing the last reference to the object releases the lock too.
final class FolderLock: Sendable {
  private let descriptor: Int32

  private init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  /// Locks an existing folder and returns the lock. The method does not wait.
  ///
  /// - Returns: `nil` while another object or process has the lock. Also `nil` when the file `lock`
  ///   cannot be opened, for example because the folder does not exist.
  static func take(of folder: String) -> FolderLock? {
    let path = folder + "/lock"
    while true {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return nil }
      let lock = FolderLock(descriptor)
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
      // The object that had the lock before may have deleted the folder after this call opened the
      // file. If the path now names another file, the loop tries again.
      var locked = stat()
      var named = stat()
      guard fstat(descriptor, &locked) == 0, stat(path, &named) == 0 else { return nil }
      if locked.st_ino == named.st_ino && locked.st_dev == named.st_dev { return lock }
    }
  }
}
