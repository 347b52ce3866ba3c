import CommandInterface
import DatabaseAPI
import Foundation

/// The prompt for a new password.
///
/// On a terminal, the user types the password twice without seeing it. Otherwise the first line of
/// standard input is the password.
enum PasswordPrompt {
  /// Throws a `UsageError` if there is no input, the terminal cannot be set up, or the two
  /// passwords differ; the error of `Account.checkPassword` for an unsuitable password.
  static func read() throws -> String {
    guard isatty(STDIN_FILENO) == 1 else {
      guard let line = readLine() else { throw UsageError("no password in standard input") }
      try Account.checkPassword(line)
      return line
    }
    let first = try ask("Password: ")
    try Account.checkPassword(first)
    guard try ask("Repeat the password: ") == first else {
      throw UsageError("the two passwords differ; nothing was changed")
    }
    return first
  }

  /// Prints a question on standard error and reads a line. The terminal does not show the typed
  /// characters.
  private static func ask(_ question: String) throws -> String {
    Output.writeError(question)
    var shown = termios()
    guard tcgetattr(STDIN_FILENO, &shown) == 0 else {
      throw UsageError("the terminal cannot be used to type a password")
    }
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    defer {
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
      Output.writeError("\n")
    }
    guard let line = readLine() else { throw UsageError("no password was typed") }
    return line
  }
}
