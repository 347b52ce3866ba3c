import Foundation
import Synchronization

/// The output of the program, on standard output and standard error. Each call writes without a
/// buffer, also to a pipe.
///
/// Text that cannot be written, for example to a full disk, is lost. The command goes on, and
/// ``CommandProgram`` reports the loss at the end.
package enum Output {
  /// The number of the system's first error for text of ``write(_:)``; `nil` without one.
  private static let failure = Mutex<Int32?>(nil)

  /// The reason why a part of the output is missing, such as `No space left on device`; `nil` if
  /// all of it was written.
  static var lossReason: String? {
    failure.withLock { $0 }.map { String(cString: strerror($0)) }
  }

  package static func line(_ text: String) {
    write(text + "\n")
  }

  package static func write(_ text: String) {
    guard let number = append(text, to: STDOUT_FILENO) else { return }
    failure.withLock { $0 = $0 ?? number }
  }

  /// Prints a line on standard output about a program that does its work without a reader too. A
  /// loss of the line is no failure of the program.
  package static func announce(_ text: String) {
    _ = append(text + "\n", to: STDOUT_FILENO)
  }

  /// Prints a message for the user on standard error, after the program's name.
  package static func complain(_ message: String) {
    writeError(TextStyle.errors.alarming("\(programName):") + " \(message)\n")
  }

  /// The file name of the running program, as in `petrel: …`.
  private static let programName = ProcessInfo.processInfo.processName

  package static func writeError(_ text: String) {
    _ = append(text, to: STDERR_FILENO)
  }

  /// Writes a text. `FileHandle` would end the process if the system refuses a part.
  ///
  /// - Returns: The number of the system's error; `nil` when the whole text is written.
  private static func append(_ text: String, to descriptor: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return errno }
      rest = rest.dropFirst(count)
    }
    return nil
  }
}
