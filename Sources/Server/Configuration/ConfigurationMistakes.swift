import Settings

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

/// Finding all mistakes at once, where reading stops at the first one.
extension ConfigurationSources {
  /// Mistakes beyond so many are not looked for.
  private static let limit = 100

  /// Puts the values of variables over those there are, without those that cannot be read.
  ///
  /// - Returns: what is wrong with the others, as ``read(environment:)`` says it.
  public mutating func readWhatCan(environment: [String: String]) -> [ConfigurationError] {
    var environment = environment
    var mistakes: [ConfigurationError] = []
    while mistakes.count < Self.limit {
      do throws(ConfigurationError) {
        try read(environment: environment)
        return mistakes
      } catch {
        mistakes.append(error)
        guard case .variable(let name) = error.place, environment[name] != nil else { break }
        environment[name] = nil
      }
    }
    return mistakes
  }

  /// Sets a configuration up as far as it goes: what cannot be is left out, with the object it stands
  /// in where that cannot do without it.
  ///
  /// - Returns: what is wrong, as ``apply(to:)`` says it.
  public mutating func applyWhatCan(
    to configuration: inout ServerConfiguration
  ) -> [ConfigurationError] {
    var mistakes: [ConfigurationError] = []
    while mistakes.count < Self.limit {
      do throws(ConfigurationError) {
        var next = configuration
        try apply(to: &next)
        configuration = next
        return mistakes
      } catch {
        guard case .key(var path) = error.place else { return mistakes + [error] }
        if mistakes.last?.description != error.description { mistakes.append(error) }
        while !path.isEmpty, value(at: path) == nil { path.removeLast() }
        guard !path.isEmpty else { return mistakes }
        remove(path)
      }
    }
    return mistakes
  }
}
