/// The creation of files and folders that only their owner can read, whatever the umask of the process is.
enum PrivateFile {
  /// Creates a folder, and the missing folders above it, with mode 0700. An existing folder keeps its mode.
  ///
  /// - Throws: an `NSError` of `NSPOSIXErrorDomain` with the path.
  static func makeFolder(_ path: String) throws {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let parent = (path as NSString).deletingLastPathComponent
    guard errno == ENOENT, parent != path, !parent.isEmpty else { throw failure(path) }
    try makeFolder(parent)
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
  }

  /// Creates a file with mode 0600 and opens it for writing.
  ///
  /// - Throws: an `NSError` of `NSPOSIXErrorDomain` with the path, also when the file exists already.
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
        NSLocalizedDescriptionKey:
          "\(path) cannot be created: \(String(cString: strerror(number)))",
      ])
  }
}
