import CloudKitModel

/// The work that makes the index of a field match the field's options.
///
/// The work begins when a schema change adds or removes an index of a field.
/// `MaintenanceService.continueIndexWork()` does the work in small steps, while the store is in use.
/// Until the work is done, queries that need the index fail with ``ItemFailure/Code/notReady``.
public struct IndexWork: Sendable, Hashable {
  /// The phase of the work.
  public enum Phase: Int64, Sendable {
    /// The store removes old entries of the index.
    case clearing = 0
    /// The store adds the entries of existing records.
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
  /// The records indexed so far, or the entries removed so far in the phase ``Phase/clearing``.
  public var done: Int
  /// The records of the type when the value was read. nil in the phase ``Phase/clearing``, and in
  /// the result of `MaintenanceService.continueIndexWork()`.
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

extension IndexWork {
  /// The index for people, such as `index of values of Note.title in iCloud.com.example.app
  /// (production)`.
  public var name: String {
    let kind = content == .values ? "values" : "words"
    return "index of \(kind) of \(recordType).\(field) in \(container) (\(environment.rawValue))"
  }

  /// The progress for people, such as `200 of 1000 records`.
  public var progress: String {
    switch phase {
    case .clearing?: "\(done) old \(done == 1 ? "entry" : "entries") removed"
    case .building?:
      "\(total.map { "\(done) of \($0)" } ?? "\(done)") \((total ?? done) == 1 ? "record" : "records")"
    case nil: "done"
    }
  }
}
