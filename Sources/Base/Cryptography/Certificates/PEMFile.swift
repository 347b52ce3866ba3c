import Foundation

/// The writing of PEM texts to files.
enum PEMFile {
  /// Writes `text` to a file that only its owner can read. An existing file is emptied first. The
  /// file gets the mode 0600 before it gets the text.
  ///
  /// - Throws: ``CryptographyError/Code/fileNotWritten`` with the system's reason.
  static func write(
    _ text: String, to path: String
  ) throws(CryptographyError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(path, errno) }
    defer { close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0 else { throw failure(path, errno) }
    var remaining = Array(text.utf8)[...]
    while !remaining.isEmpty {
      let written = remaining.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress, $0.count)
      }
      guard written > 0 else { throw failure(path, errno) }
      remaining = remaining.dropFirst(written)
    }
  }

  private static func failure(_ path: String, _ number: Int32) -> CryptographyError {
    CryptographyError(
      .fileNotWritten, "'\(path)' cannot be written: \(String(cString: strerror(number)))")
  }
}
