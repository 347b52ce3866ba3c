/// A command of a program, such as `petrel users add`.
///
/// ``CommandProgram`` finds the command, parses its options and runs it. The help, the manual and
/// the shell completions are made from these declarations.
package protocol Command: Sendable {
  /// The name as the user types it after the program's name, such as `users add`: one or two words.
  var name: String { get }
  /// One sentence for the list of commands.
  var summary: String { get }
  /// A whole command line that works, for the help text.
  var example: String { get }
  /// The placeholders of the positional words, such as `NAME`, or `bash|zsh` for a choice. The
  /// default is empty: the command takes no positional words.
  var operands: String { get }
  /// The options and flags that the command accepts. The program refuses any other with a
  /// ``UsageError``.
  var options: [Arguments.Option] { get }
  /// The exit statuses with their meanings, for help texts. It is empty if 0 and 1 only mean
  /// success and failure; that is the default.
  var exitStatuses: [(Int32, String)] { get }

  /// Runs the command.
  ///
  /// - Returns: The exit status of the process, one of ``ExitStatus``.
  /// - Throws: ``UsageError`` for wrong words, and `InputFile.Failure` for a file that cannot be
  ///   read (exit status 64); any other error for a failure (exit status 1). ``CommandProgram``
  ///   prints all of them on standard error.
  func run(_ arguments: Arguments) async throws -> Int32
}

extension Command {
  package var operands: String { "" }
  package var exitStatuses: [(Int32, String)] { [] }
}

extension String {
  /// Returns the text with spaces appended, up to `width` characters. A longer text stays as it is.
  package func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// Returns the text with spaces in front, up to `width` characters. A longer text stays as it is.
  package func leftPadding(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
