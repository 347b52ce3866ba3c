import CloudKitModel

/// What is to be done until the index of a field is what its options ask for.
public struct IndexWork: Sendable, Hashable {
  public enum Phase: Int64, Sendable {
    /// Entries from before are being removed.
    case clearing = 0
    /// Entries of the records that are there are being made.
    case building = 1
  }

  public enum Content: Sendable, Hashable {
    /// Whole values, for `QUERYABLE` and `SORTABLE`.
    case values
    /// Words, for `SEARCHABLE`.
    case words
  }

  public var container: String
  public var environment: ContainerEnvironment
  public var recordType: String
  public var field: String
  public var content: Content
  /// Nil when all is done.
  public var phase: Phase?
  /// Records whose entries were made, or entries that were removed.
  public var done: Int
  /// The records of the type, as of asking; nil while entries are removed, and after a step.
  public var total: Int?

  package init(
    container: String, environment: ContainerEnvironment, recordType: String, field: String,
    content: Content, phase: Phase? = nil, done: Int, total: Int? = nil
  ) {
    self.container = container
    self.environment = environment
    self.recordType = recordType
    self.field = field
    self.content = content
    self.phase = phase
    self.done = done
    self.total = total
  }
}
