/// The error of a configuration that cannot be used.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// The wrong part of a configuration. Without this part, the rest may be usable.
  package enum Place: Sendable, Hashable {
    /// A key, as the names of the objects that contain it, from the outermost object, and its own
    /// name.
    case key([String])
    /// An environment variable, by its name.
    case variable(String)
  }

  /// The description of the error with its place, if known, and the broken rule, for a person to
  /// read.
  public var description: String
  /// The wrong key or variable; `nil` if the error is not about a single key or variable.
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
