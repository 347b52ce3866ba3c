import Settings

/// All errors that were found in a configuration.
public struct ConfigurationMistakes: Error, Sendable, CustomStringConvertible {
  /// The errors; at least one.
  public let mistakes: [ConfigurationError]

  /// Combines errors; nil if there are none.
  public init?(_ mistakes: [ConfigurationError]) {
    guard !mistakes.isEmpty else { return nil }
    self.mistakes = mistakes
  }

  /// The only error, or all errors with each on a separate line.
  public var description: String {
    guard mistakes.count > 1 else { return mistakes.first?.description ?? "" }
    return "\(mistakes.count) mistakes in the configuration:"
      + mistakes.map { "\n  \($0)" }.joined()
  }

  /// All errors on one line, separated by semicolons.
  public var line: String { mistakes.map(\.description).joined(separator: "; ") }
}

/// The search for all errors at once. The methods of the other files stop at the first error.
extension ConfigurationSources {
  /// The number of errors after which the search stops.
  private static let limit = 100

  /// Reads environment variables like ``read(environment:)``, but skips invalid ones. After 100
  /// errors, the method stops, and it may not have read the rest.
  ///
  /// - Returns: the errors of the skipped variables.
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

  /// Applies the values to a configuration like ``apply(to:)``, but skips invalid ones. If an
  /// object needs a skipped value, the method skips the whole object. After 100 errors, or after an
  /// error that concerns no key, the method stops and leaves the configuration unchanged.
  ///
  /// The method removes the skipped values from these sources.
  ///
  /// - Returns: the errors of the skipped values.
  public mutating func applyWhatCan(
    to configuration: inout ServerConfiguration
  ) -> [ConfigurationError] {
    var mistakes: [ConfigurationError] = []
    // The paths of the values that were removed. A later error about one of them says that it is missing.
    var removed: Set<[String]> = []
    while mistakes.count < Self.limit {
      do throws(ConfigurationError) {
        var next = configuration
        try apply(to: &next)
        configuration = next
        return mistakes
      } catch {
        guard case .key(var path) = error.place else { return mistakes + [error] }
        if mistakes.last?.description != error.description, !removed.contains(path) {
          mistakes.append(error)
        }
        while !path.isEmpty, value(at: path) == nil { path.removeLast() }
        guard !path.isEmpty else { return mistakes }
        remove(path)
        removed.insert(path)
      }
    }
    return mistakes
  }
}
