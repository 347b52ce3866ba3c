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
