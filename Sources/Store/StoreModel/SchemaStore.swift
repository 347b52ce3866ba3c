import CloudKitModel

/// What a store knows of schemas: record types, fields, roles and who has them.
///
/// Every change is one transaction. It holds from the next transaction of each process that has the
/// store open.
public protocol SchemaStore: Sendable {
  /// The schema of a container in an environment; empty when nothing was saved or imported there.
  func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema
  /// The types of the subscriptions that were saved in a container or deployed to it, in the
  /// order of their descriptions.
  func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType]

  /// Makes a schema the development schema of a container.
  ///
  /// - What would lose data is refused: removal or another type of what the production schema has,
  ///   or of what records have values of. Then nothing is changed.
  /// - The users' own record type stays when the schema does not name it.
  /// - Parameter isTrial: whether to tell only what would be changed and refused.
  func importSchema(
    _ schema: ContainerSchema, of container: String, isTrial: Bool
  ) async throws -> SchemaOutcome
  /// Adds what a container's development schema has to its production schema, with the types of
  /// the subscriptions that were saved in development.
  ///
  /// - Nothing is taken away but options of fields; grants become those of development. A field
  ///   that has another type in production is refused, and then nothing is changed.
  /// - Parameter isTrial: whether to tell only what would be changed and refused.
  func deploySchema(of container: String, isTrial: Bool) async throws -> SchemaOutcome

  /// The indexes that are being built or removed.
  func indexWork() async throws -> [IndexWork]
  /// Does a small step of the work on one index, in one transaction, and tells how far it is; nil
  /// when there is no work. Any number of processes may call it at the same time.
  func continueIndexWork() async throws -> IndexWork?

  /// The roles of a user in a container: `_world`, `_icloud` and those that were given; for an
  /// anonymous caller `_world` alone.
  func roles(
    of userRecordName: String?, container: String, environment: ContainerEnvironment
  ) async throws -> Set<String>
  /// The users who were given a role, in the order of their record names.
  func members(
    of role: String, container: String, environment: ContainerEnvironment
  ) async throws -> [String]
  /// Gives a user a role of the container, or takes it away.
  ///
  /// - Throws: ``StoreError/Code/notFound`` when the schema has no such role. The system's roles
  ///   cannot be given.
  func setMembership(
    _ isMember: Bool, of userRecordName: String, in role: String, container: String,
    environment: ContainerEnvironment
  ) async throws
}

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
