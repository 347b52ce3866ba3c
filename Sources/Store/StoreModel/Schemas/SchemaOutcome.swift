import CloudKitModel

/// The outcome of an import or a deployment.
public struct SchemaOutcome: Sendable, Hashable {
  /// A change that would lose data.
  public struct Refusal: Sendable, Hashable {
    public var change: SchemaChange
    /// The data that would be lost, for people.
    public var reason: String

    public init(_ change: SchemaChange, _ reason: String) {
      self.change = change
      self.reason = reason
    }
  }

  /// The requested changes, in the order in which they are made.
  public var changes: [SchemaChange]
  /// If there are any, nothing was changed.
  public var refusals: [Refusal]

  public init(changes: [SchemaChange], refusals: [Refusal]) {
    self.changes = changes
    self.refusals = refusals
  }
}
