/// The error of a configuration that cannot be used.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// The part of a configuration to remove so that the rest is usable.
  package enum Place: Sendable, Hashable {
    /// A key, by the names on the way to it.
    case key([String])
    /// An environment variable, by its name.
    case variable(String)
  }

  /// The place and the broken rule, for a person to read.
  public var description: String
  /// The wrong key or variable; `nil` if the error is not about a single one.
  package var place: Place?

  /// Creates an error that is not about a single key or variable.
  public init(_ description: String) {
    self.description = description
  }

  /// Creates an error about a key or variable.
  package init(_ description: String, at place: Place) {
    self.description = description
    self.place = place
  }
}
