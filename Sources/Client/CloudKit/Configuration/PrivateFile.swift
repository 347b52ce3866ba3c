/// Files and folders that the module makes for itself: no other user of the machine may read them,
/// whatever the process's umask is.
enum PrivateFile {
  /// Makes a folder, and those above it that are missing, with mode 0700. One that is there stays as
  /// it is.
  static func makeFolder(_ path: String) throws {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let parent = (path as NSString).deletingLastPathComponent
    guard errno == ENOENT, parent != path, !parent.isEmpty else { throw failure(path) }
    try makeFolder(parent)
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
  }

  /// Makes a file that is not there yet, with mode 0600, and opens it for writing.
  static func make(at path: String) throws -> FileHandle {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(path) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  private static func failure(_ path: String) -> NSError {
    let number = errno
    return NSError(
      domain: NSPOSIXErrorDomain, code: Int(number),
      userInfo: [
        NSFilePathErrorKey: path,
        NSLocalizedDescriptionKey: "\(path) cannot be made: \(String(cString: strerror(number)))",
      ])
  }
}
