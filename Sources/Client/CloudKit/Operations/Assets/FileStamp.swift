/// The properties of a file that change when a program writes to it or replaces it.
///
/// Two stamps are equal if size, device, inode and time of last modification (in nanoseconds) are
/// equal.
struct FileStamp: Equatable {
  let size: Int64
  private let device: UInt64
  private let number: UInt64
  private let seconds: Int
  private let nanoseconds: Int

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
