import CloudKitModel

/// What became of an import or a deploy.
public struct SchemaOutcome: Sendable, Hashable {
  /// A change that would lose data.
  public struct Refusal: Sendable, Hashable {
    public var change: SchemaChange
    /// What would be lost, for people.
    public var reason: String

    public init(_ change: SchemaChange, _ reason: String) {
      self.change = change
      self.reason = reason
    }
  }

  /// What was asked for, in the order in which it is done.
  public var changes: [SchemaChange]
  /// When there are any, nothing was changed.
  public var refusals: [Refusal]

  public init(changes: [SchemaChange], refusals: [Refusal]) {
    self.changes = changes
    self.refusals = refusals
  }
}
