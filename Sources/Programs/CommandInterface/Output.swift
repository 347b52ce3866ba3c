import Foundation

/// The output of the program, on standard output and standard error. Each call writes without a
/// buffer, also to a pipe.
package enum Output {
  /// Prints a line on standard output.
  package static func line(_ text: String) {
    write(text + "\n")
  }

  /// Prints the text on standard output without a line end.
  package static func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  /// Prints a message for the user on standard error, after the program's name.
  package static func complain(_ message: String) {
    writeError(TextStyle.errors.alarming("\(programName):") + " \(message)\n")
  }

  /// The file name of the running program, as in `petrel: …`.
  private static let programName = ProcessInfo.processInfo.processName

  /// Prints the text on standard error without a line end.
  package static func writeError(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
