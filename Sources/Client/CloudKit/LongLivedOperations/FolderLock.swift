/// Says that this process, and in it this object, works on a folder. The system takes the lock back
/// when the process ends, however it ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  private init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  /// The lock of an existing folder; nil while someone else has it, or when there is no folder.
  static func take(of folder: String) -> FolderLock? {
    let path = folder + "/lock"
    while true {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return nil }
      let lock = FolderLock(descriptor)
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
      // Who had the lock before may have removed the folder with the file that is locked now.
      var locked = stat()
      var named = stat()
      guard fstat(descriptor, &locked) == 0, stat(path, &named) == 0 else { return nil }
      if locked.st_ino == named.st_ino && locked.st_dev == named.st_dev { return lock }
    }
  }
}
