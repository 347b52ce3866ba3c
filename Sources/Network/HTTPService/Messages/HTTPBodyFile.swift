import Foundation
import Glibc

/// The body of a request in a file of its own.
///
/// The file is removed when the last reference to this object goes, unless it was moved away by
/// then: renaming it is how to keep it.
public final class HTTPBodyFile: @unchecked Sendable {
  // Unchecked: the descriptor and the size are changed by one event loop alone, and only until the
  // body is whole.

  public let path: String
  /// Bytes.
  public private(set) var size = 0
  private var descriptor: Int32
  private let began = ContinuousClock.now

  /// Seconds since the request's headers arrived.
  public var age: Double { (ContinuousClock.now - began) / .seconds(1) }

  /// An empty file in `directory`; nil when there can be none.
  init?(in directory: String) {
    path = "\(directory)/body-\(UUID().uuidString)"
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    unlink(path)
  }

  /// Writes behind what is there; false when the file system does not take it.
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

  /// The body is whole.
  func finish() {
    close(descriptor)
    descriptor = -1
  }
}
