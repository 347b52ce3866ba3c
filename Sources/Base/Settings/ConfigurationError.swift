/// A configuration that cannot be used.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// What has to go for the rest to be usable.
  package enum Place: Sendable, Hashable {
    case key([String])
    case variable(String)
  }

  public var description: String
  /// Nil where it is not one key or variable that is wrong.
  package var place: Place?

  public init(_ description: String) {
    self.description = description
  }

  package init(_ description: String, at place: Place) {
    self.description = description
    self.place = place
  }
}
