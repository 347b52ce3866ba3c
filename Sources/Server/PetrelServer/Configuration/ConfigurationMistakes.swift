/// All that is wrong with a configuration.
public struct ConfigurationMistakes: Error, Sendable, CustomStringConvertible {
  /// At least one.
  public let mistakes: [ConfigurationError]

  /// - Returns: nil when nothing is wrong.
  public init?(_ mistakes: [ConfigurationError]) {
    guard !mistakes.isEmpty else { return nil }
    self.mistakes = mistakes
  }

  /// The only one, or all, each on a line of its own.
  public var description: String {
    guard mistakes.count > 1 else { return mistakes.first?.description ?? "" }
    return "\(mistakes.count) mistakes in the configuration:"
      + mistakes.map { "\n  \($0)" }.joined()
  }

  /// All on one line.
  public var line: String { mistakes.map(\.description).joined(separator: "; ") }
}
