import CloudKitModel

/// The remaining work until the index of a field matches the field's options.
///
/// A schema change that adds or removes an index of a field starts such work.
/// ``Maintenance/continueIndexWork()`` does it in small steps while the store is in use. Queries
/// that need the index fail with ``ItemFailure/Code/notReady`` until the work is done.
public struct IndexWork: Sendable, Hashable {
  /// The phase of the work.
  public enum Phase: Int64, Sendable {
    /// Old entries are being removed.
    case clearing = 0
    /// Entries of existing records are being made.
    case building = 1
  }

  /// The contents of an index.
  public enum Content: Sendable, Hashable {
    /// Whole values, for `QUERYABLE` and `SORTABLE`.
    case values
    /// Words, for `SEARCHABLE`.
    case words
  }

  /// The container whose schema has the field.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment
  /// The record type.
  public var recordType: String
  /// The name of the field.
  public var field: String
  /// The contents of the index.
  public var content: Content
  /// The present phase; nil when all work is done.
  public var phase: Phase?
  /// The number of records indexed, or of entries removed.
  public var done: Int
  /// The number of records of the type at the time of the call. It is nil while entries are
  /// removed, and in the result of ``Maintenance/continueIndexWork()``.
  public var total: Int?

  /// Creates the progress of one index. A phase of nil says that the work is done.
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

extension IndexWork {
  /// A text that identifies the index, such as `index of values of Note.title in
  /// iCloud.com.example.app (production)`.
  public var name: String {
    let kind = content == .values ? "values" : "words"
    return "index of \(kind) of \(recordType).\(field) in \(container) (\(environment.rawValue))"
  }

  /// A text about the progress, such as `200 of 1000 records`.
  public var progress: String {
    switch phase {
    case .clearing?: "\(done) old \(done == 1 ? "entry" : "entries") removed"
    case .building?:
      "\(total.map { "\(done) of \($0)" } ?? "\(done)") \((total ?? done) == 1 ? "record" : "records")"
    case nil: "done"
    }
  }
}
