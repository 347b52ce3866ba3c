/// A value that breaks a rule of CloudKit's data model.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of rule was broken. More may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// A record, zone, type or field name is not allowed.
    public static let invalidName = Code(description: "invalidName")
    /// A field's value is of another type than the field, or a list mixes types.
    public static let wrongType = Code(description: "wrongType")
    /// A filter combines a comparator, a field and a value that do not go together.
    public static let invalidFilter = Code(description: "invalidFilter")
    /// A subscription or its notification info breaks a rule.
    public static let invalidSubscription = Code(description: "invalidSubscription")
    /// Something is larger than its limit.
    public static let limitExceeded = Code(description: "limitExceeded")
  }

  public var code: Code
  /// The field, key or property that is at fault, where there is one.
  public var field: String?
  /// The rule that was broken, with the offending value, for people.
  public var reason: String
  /// The limit that was passed, with ``Code/limitExceeded``.
  public var limit: Int?

  public init(_ code: Code, field: String? = nil, _ reason: String, limit: Int? = nil) {
    self.code = code
    self.field = field
    self.reason = reason
    self.limit = limit
  }

  public var description: String { reason }
}
