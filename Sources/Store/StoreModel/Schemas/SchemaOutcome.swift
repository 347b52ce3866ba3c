import CloudKitModel

/// The outcome of an import or a deployment of a schema.
public struct SchemaOutcome: Sendable, Hashable {
  /// A change that was refused, because it would lose data.
  public struct Refusal: Sendable, Hashable {
    /// The refused change.
    public var change: SchemaChange
    /// The data that would be lost, for a person to read.
    public var reason: String

    /// Creates a refusal of one change.
    public init(_ change: SchemaChange, _ reason: String) {
      self.change = change
      self.reason = reason
    }
  }

  /// The requested changes in the order in which they are made, the refused ones too.
  public var changes: [SchemaChange]
  /// The refused changes. If there are any, nothing was changed.
  public var refusals: [Refusal]

  /// Creates an outcome. Without refusals, all changes were made, except in a dry run.
  public init(changes: [SchemaChange], refusals: [Refusal]) {
    self.changes = changes
    self.refusals = refusals
  }
}
