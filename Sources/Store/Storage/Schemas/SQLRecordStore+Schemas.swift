import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema {
    try await read { try $0.schema(of: container, in: environment) }
  }

  public func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType] {
    try await read { try $0.subscriptionTypes(of: container, in: environment) }
  }

  public func roles(
    of userRecordName: String?, container: String, environment: ContainerEnvironment
  ) async throws -> Set<String> {
    let address = DatabaseAddress(
      container: container, environment: environment, scope: .public, owner: nil)
    return try await read { try $0.roles(of: userRecordName, at: address) }
  }

  public func members(
    of role: String, container: String, environment: ContainerEnvironment
  ) async throws -> [String] {
    try await read { session in
      try session.connection.rows(
        """
        SELECT user_record_name FROM role_members
        WHERE container = $1 AND environment = $2 AND role = $3 ORDER BY user_record_name
        """, [.text(container), .text(environment.rawValue), .text(role)]
      ) { $0.text(0) }
    }
  }

  public func setMembership(
    _ isMember: Bool, of userRecordName: String, in role: String, container: String,
    environment: ContainerEnvironment
  ) async throws {
    try await write(locking: .reference) { session in
      try UserDeletionTable(session: session).refuseDeleted(userRecordName)
      let place: [SQLValue] = [.text(container), .text(environment.rawValue)]
      guard try session.customRoles(of: container, in: environment).contains(role) else {
        throw StoreError(
          .notFound,
          "the \(environment.rawValue) schema of \(container) has no role '\(role)'; import a "
            + "schema that creates it")
      }
      try session.connection.run(
        isMember
          ? """
          INSERT INTO role_members (container, environment, user_record_name, role)
          VALUES ($1, $2, $3, $4)
          ON CONFLICT (container, environment, user_record_name, role) DO NOTHING
          """
          : """
          DELETE FROM role_members WHERE container = $1 AND environment = $2
            AND user_record_name = $3 AND role = $4
          """, place + [.text(userRecordName), .text(role)])
      try session.raiseSchemaVersion()
    }
  }
}

extension StoreSession {
  /// A container's whole schema, as it stands in this transaction.
  func schema(
    of container: String, in environment: ContainerEnvironment
  ) throws -> ContainerSchema {
    var schema = ContainerSchema(roles: try customRoles(of: container, in: environment))
    let address = DatabaseAddress(
      container: container, environment: environment, scope: .public, owner: nil)
    for name in try recordTypeNames(of: container, in: environment) where name != Self.shareType {
      // Other processes add fields without a word.
      guard let entry = try recordType(named: name, at: address) else { continue }
      try loadFields(of: entry)
      schema.recordTypes[name] = entry.definition
    }
    return schema
  }

  /// The system's record type of shares, which schemas do not name.
  static let shareType = "cloudkit.share"

  func recordTypeNames(
    of container: String, in environment: ContainerEnvironment
  ) throws -> [String] {
    try connection.rows(
      """
      SELECT name FROM record_types WHERE container = $1 AND environment = $2 AND dropped = 0
      ORDER BY name
      """, [.text(container), .text(environment.rawValue)]
    ) { $0.text(0) }
  }

  func customRoles(
    of container: String, in environment: ContainerEnvironment
  ) throws -> Set<String> {
    Set(
      try connection.rows(
        "SELECT name FROM security_roles WHERE container = $1 AND environment = $2",
        [.text(container), .text(environment.rawValue)]
      ) { $0.text(0) })
  }

  func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) throws -> [SubscriptionType] {
    try connection.rows(
      """
      SELECT record_type, events, fields FROM subscription_types
      WHERE container = $1 AND environment = $2
      """, [.text(container), .text(environment.rawValue)]
    ) { SubscriptionType($0) }.sorted { $0.description < $1.description }
  }
}

extension RecordTypeEntry {
  /// The type as a schema has it.
  var definition: ContainerSchema.RecordType {
    ContainerSchema.RecordType(
      fields: fields.filter { SystemField(anySchemaName: $0.key) == nil }.mapValues {
        ContainerSchema.Field($0.type, isEncrypted: $0.isEncrypted, indexes: $0.indexes)
      },
      systemIndexes: systemIndexes, grants: grants)
  }
}

extension SystemField {
  /// The system field with this name in the store, whether schemas name it or not.
  init?(anySchemaName name: String) {
    guard let field = Self.allCases.first(where: { $0.schemaName == name }) else { return nil }
    self = field
  }
}
