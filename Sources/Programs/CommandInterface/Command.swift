/// One of the program's commands.
package protocol Command: SendableMetatype {
  /// As typed, such as `users add`.
  static var name: String { get }
  /// One line for the list of commands.
  static var summary: String { get }
  /// A whole line as one would type it.
  static var example: String { get }
  /// What stands after the name, such as `NAME`, or `bash|zsh` where it is one of some words.
  static var operands: String { get }
  static var options: [Arguments.Option] { get }
  /// What the exit status says, where that is more than whether it was done.
  static var exitStatuses: [(Int32, String)] { get }

  /// Runs the command.
  ///
  /// - Returns: the exit status, one of ``ExitStatus``.
  static func run(_ arguments: Arguments) async throws -> Int32
}

extension Command {
  package static var operands: String { "" }
  package static var exitStatuses: [(Int32, String)] { [] }
}

extension String {
  /// The text with spaces after it, up to `width` characters.
  package func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// The text with spaces before it, up to `width` characters.
  package func leftPadding(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
