/// What changes when someone writes to a file or puts another in its place.
struct FileStamp: Equatable {
  /// Bytes.
  let size: Int64
  private let device: UInt64
  private let number: UInt64
  private let seconds: Int
  private let nanoseconds: Int

  /// Nil when there is no such file, or when it is a folder or a device.
  init?(_ url: URL) {
    var status = stat()
    guard url.isFileURL, stat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    size = Int64(status.st_size)
    device = UInt64(status.st_dev)
    number = UInt64(status.st_ino)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
