/// The error for a value that breaks a rule of CloudKit's data model.
///
/// The server answers such a value with `BAD_REQUEST`. ``reason`` names the broken rule and the
/// refused value.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of rule that was broken. Later versions may add codes.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// The name of a record, zone, record type, field or role is not allowed, or an address or
    /// number of a user is malformed.
    public static let invalidName = Code(description: "invalidName")
    /// A value has another type than its field, a value is out of range, or a list mixes types.
    public static let wrongType = Code(description: "wrongType")
    /// A filter combines a comparator, a field and a value that do not fit together.
    public static let invalidFilter = Code(description: "invalidFilter")
    /// A subscription or its notification info breaks a rule.
    public static let invalidSubscription = Code(description: "invalidSubscription")
    /// A number, a size or a count is outside of its limits. ``ModelError/limit`` has the upper
    /// limit in some of these errors.
    public static let limitExceeded = Code(description: "limitExceeded")
  }

  /// The kind of rule that was broken.
  public var code: Code
  /// The field, key or property that breaks the rule; nil when the rule does not concern a single
  /// one of them.
  public var field: String?
  /// The broken rule with the refused value, as text for a person.
  public var reason: String
  /// The limit that was exceeded, as a number of items or bytes. Only an error with
  /// ``Code/limitExceeded`` may have a limit, and not each of them has one.
  public var limit: Int?

  /// Creates an error.
  public init(_ code: Code, field: String? = nil, _ reason: String, limit: Int? = nil) {
    self.code = code
    self.field = field
    self.reason = reason
    self.limit = limit
  }

  public var description: String { reason }
}
