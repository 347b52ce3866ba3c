import CloudKitModel

/// What schemas hold besides types and fields: what fields may be searched by, roles and grants,
/// subscription types, and the indexes that are being built.
extension Schema {
  static let containerSchemas = [
    "INSERT INTO counters (name, value) VALUES ('schema', 1)",
    // Types without records keep their number: deletions in change feeds may name it.
    "ALTER TABLE record_types ADD COLUMN dropped BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE record_fields ADD COLUMN indexes BIGINT NOT NULL DEFAULT 0",
    """
    CREATE TABLE system_field_indexes (
      type_number BIGINT NOT NULL, name TEXT NOT NULL, indexes BIGINT NOT NULL,
      PRIMARY KEY (type_number, name))
    """,
    """
    CREATE TABLE record_type_grants (
      type_number BIGINT NOT NULL, role TEXT NOT NULL, permissions BIGINT NOT NULL,
      PRIMARY KEY (type_number, role))
    """,
    """
    CREATE TABLE security_roles (
      container TEXT NOT NULL, environment TEXT NOT NULL, name TEXT NOT NULL,
      PRIMARY KEY (container, environment, name))
    """,
    """
    CREATE TABLE role_members (
      container TEXT NOT NULL, environment TEXT NOT NULL, user_record_name TEXT NOT NULL,
      role TEXT NOT NULL, PRIMARY KEY (container, environment, user_record_name, role))
    """,
    """
    CREATE TABLE subscription_types (
      container TEXT NOT NULL, environment TEXT NOT NULL, record_type TEXT NOT NULL,
      events BIGINT NOT NULL, fields TEXT NOT NULL,
      PRIMARY KEY (container, environment, record_type, events, fields))
    """,
    """
    CREATE TABLE index_work (
      field_number BIGINT PRIMARY KEY, phase BIGINT NOT NULL, database_id BIGINT NOT NULL,
      value_key BYTEA NOT NULL, record_number BIGINT NOT NULL, done BIGINT NOT NULL)
    """,
  ]

  /// Gives what is there the options and grants that it has had in effect, and records the types of
  /// the subscriptions.
  static let fillContainerSchemas: @Sendable (any SQLConnection) throws -> Void = { connection in
    let fields = try connection.rows(
      "SELECT field_number, value_type FROM record_fields", []
    ) { ($0.integer(0), $0.text(1)) }
    for (number, typeName) in fields {
      // The name of an encrypted field's type is none that `FieldType` knows.
      guard let type = FieldType(name: typeName) else { continue }
      try connection.run(
        "UPDATE record_fields SET indexes = $2 WHERE field_number = $1",
        [.integer(number), .integer(Int64(FieldIndexes.implicit(for: type).rawValue))])
    }
    for type in try connection.rows("SELECT type_number FROM record_types", [], { $0.integer(0) }) {
      try RecordTypeEntry.insertSystemIndexes(
        SystemField.implicitIndexes, ofType: type, through: connection)
      try RecordTypeEntry.insertGrants(.standard, ofType: type, through: connection)
    }
    let subscriptions = try connection.rows(
      """
      SELECT databases.container, databases.environment, subscriptions.content
      FROM subscriptions JOIN databases ON databases.database_id = subscriptions.database_id
      """, []
    ) { ($0.text(0), $0.text(1), $0.bytes(2)) }
    for (container, environment, content) in subscriptions {
      guard let type = SubscriptionType(of: try Subscription(stored: content)) else { continue }
      try type.insert(container: container, environment: environment, through: connection)
    }
  }
}

extension Schema {
  /// Has entries of system fields removed that nothing can be found by.
  static let clearUnusedSystemIndexes: @Sendable (any SQLConnection) throws -> Void = {
    connection in
    for field in StoreSession.systemFieldsIndexedByOption {
      let unused = """
        WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM system_field_indexes
          WHERE system_field_indexes.type_number = record_fields.type_number
            AND system_field_indexes.name = record_fields.name)
        """
      let name = SQLValue.text(field.schemaName)
      try connection.run("UPDATE record_fields SET indexes = 0 \(unused)", [name])
      try connection.run(
        """
        INSERT INTO index_work (field_number, phase, database_id, value_key, record_number, done)
        SELECT field_number, $2, 0, $3, -1, 0 FROM record_fields \(unused)
        """, [name, .integer(IndexWork.Phase.clearing.rawValue), .bytes([])])
    }
  }
}

extension Schema {
  /// Has the value index hold the creators of records of which callers find nothing but their own.
  static let indexCreators: @Sendable (any SQLConnection) throws -> Void = { connection in
    let fields = try connection.rows(
      "SELECT field_number, type_number, indexes FROM record_fields WHERE name = $1",
      [.text(SystemField.createdUserRecordName.schemaName)]
    ) { ($0.integer(0), $0.integer(1), FieldIndexes(rawValue: UInt8($0.integer(2)))) }
    for (number, type, indexes) in fields where !indexes.usesValues {
      var grants = RecordGrants()
      try connection.query(
        "SELECT role, permissions FROM record_type_grants WHERE type_number = $1", [.integer(type)]
      ) { grants.grant(RecordPermissions(rawValue: UInt8($0.integer(1))), to: $0.text(0)) }
      guard grants.limitsReadersToOwn else { continue }
      try connection.run(
        "UPDATE record_fields SET indexes = $2 WHERE field_number = $1",
        [.integer(number), .integer(Int64(indexes.union(.queryable).rawValue))])
      // What is being removed is removed first, and then built.
      try connection.run(
        """
        INSERT INTO index_work (field_number, phase, database_id, value_key, record_number, done)
        VALUES ($1, $2, 0, $3, -1, 0) ON CONFLICT (field_number) DO NOTHING
        """,
        [.integer(number), .integer(IndexWork.Phase.building.rawValue), .bytes([])])
      try connection.run("UPDATE counters SET value = value + 1 WHERE name = 'schema'", [])
    }
  }
}

extension SubscriptionType {
  /// Puts the type into a schema that may have it already.
  func insert(
    container: String, environment: String, through connection: any SQLConnection
  ) throws {
    try connection.run(
      """
      INSERT INTO subscription_types (container, environment, record_type, events, fields)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (container, environment, record_type, events, fields) DO NOTHING
      """, columns(container: container, environment: environment))
  }

  func columns(container: String, environment: String) -> [SQLValue] {
    [
      .text(container), .text(environment), .text(recordType), .integer(Int64(events.rawValue)),
      .text(fields.joined(separator: " ")),
    ]
  }
}
