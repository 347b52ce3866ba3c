import Foundation

/// What the program prints. Every line leaves at once, also into a pipe.
package enum Output {
  package static func line(_ text: String) {
    write(text + "\n")
  }

  package static func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  /// A line for people on standard error.
  package static func complain(_ message: String) {
    writeError(TextStyle.errors.alarming("\(programName):") + " \(message)\n")
  }

  private static let programName = ProcessInfo.processInfo.processName

  package static func writeError(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
