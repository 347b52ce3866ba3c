/// The error of a configuration that cannot be used.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// The wrong part of a configuration. Without this part, the rest may be usable.
  package enum Place: Sendable, Hashable {
    /// The names of the objects that contain the key, from the outermost one, and its own name.
    case key([String])
    case variable(String)
  }

  /// The description of the error with its place, if known, and the broken rule, for a person to
  /// read.
  public var description: String
  package var place: Place?

  /// Creates an error that is not about a single key or variable.
  public init(_ description: String) {
    self.description = description
  }

  package init(_ description: String, at place: Place) {
    self.description = description
    self.place = place
  }
}
