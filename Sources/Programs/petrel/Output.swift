import Foundation

/// What the program prints. Every line leaves at once, also into a pipe.
enum Output {
  static func line(_ text: String) {
    write(text + "\n")
  }

  static func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  /// A line for people on standard error.
  static func complain(_ message: String) {
    writeError(TextStyle.errors.alarming("petrel:") + " \(message)\n")
  }

  static func writeError(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
