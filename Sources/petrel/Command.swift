/// One of the program's commands.
protocol Command: SendableMetatype {
  /// As typed, such as `users add`.
  static var name: String { get }
  /// One line for the list of commands.
  static var summary: String { get }
  /// What stands after the name, such as `NAME`.
  static var operands: String { get }
  static var options: [Arguments.Option] { get }

  /// Runs the command.
  ///
  /// - Returns: the exit status.
  static func run(_ arguments: Arguments) async throws -> Int32
}

extension Command {
  static var operands: String { "" }

  /// The text of `petrel NAME --help`.
  static var help: String {
    var text = "petrel \(name)\(operands.isEmpty ? "" : " " + operands)"
    text += options.isEmpty ? "\n\n\(summary)\n" : " [OPTION…]\n\n\(summary)\n\n"
    let left = options.map { "--\($0.name)" + ($0.valueName.map { " " + $0 } ?? "") }
    let width = left.map(\.count).max() ?? 0
    for (words, option) in zip(left, options) {
      text += "  \(words.padding(to: width))  \(option.help)\n"
    }
    return text
  }
}

extension String {
  /// The text with spaces after it, up to `width` characters.
  func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// The text with spaces before it, up to `width` characters.
  func leftPadding(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
