import Foundation
import Glibc

/// The body of a request, in a file of its own.
///
/// The file is removed when the last reference to this object is released. To keep the file, rename
/// it before that.
public final class HTTPBodyFile: @unchecked Sendable {
  // Unchecked: the descriptor and the size are changed by one event loop alone, and only until the
  // body is whole.

  /// The path of the file.
  public let path: String
  /// The size of the body in bytes.
  public private(set) var size = 0
  /// The open file; -1 after ``finish()``.
  private var descriptor: Int32

  /// Creates an empty file with the mode 0600 in `directory`; `nil` if the system refuses.
  init?(in directory: String) {
    path = "\(directory)/body-\(UUID().uuidString)"
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    unlink(path)
  }

  /// Adds bytes at the end; `false` when the file system does not accept them.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while let base = rest.baseAddress, rest.count > 0 {
      let count = write(descriptor, base, rest.count)
      if count < 0 {
        if errno == EINTR { continue }
        return false
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    size += bytes.count
    return true
  }

  func finish() {
    close(descriptor)
    descriptor = -1
  }
}
