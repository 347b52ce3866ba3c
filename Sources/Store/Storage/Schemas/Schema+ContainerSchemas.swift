import CloudKitModel
import SQLEngine

extension Schema {
  /// Schemas: types and fields, what fields may be searched by, roles and grants, subscription types, and
  /// the indexes that are being built. Small tables that every node knows.
  ///
  /// A type that was dropped keeps its row and number: deletions in change feeds may name it.
  static let containerSchemas = [
    """
    CREATE TABLE record_types (
      type_number BIGINT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      name TEXT NOT NULL, dropped BIGINT NOT NULL DEFAULT 0,
      UNIQUE (container, environment, name))
    """,
    """
    CREATE TABLE record_fields (
      field_number BIGINT PRIMARY KEY, type_number BIGINT NOT NULL, name TEXT NOT NULL,
      value_type TEXT NOT NULL, indexes BIGINT NOT NULL DEFAULT 0, UNIQUE (type_number, name))
    """,
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
    let query =
      switch self {
      case .query(let query): query
      case .recordZone: Self.ofZones
      case .database: Self.ofDatabases
      }
    return [
      .text(container), .text(environment), .text(query.recordType),
      .integer(Int64(query.events.rawValue)), .text(query.fields.joined(separator: " ")),
    ]
  }

  /// The type in the columns `record_type`, `events` and `fields`.
  init(_ row: any SQLRow) {
    let query = Query(
      recordType: row.text(0), events: .init(rawValue: UInt(row.integer(1))),
      fields: row.text(2).split(separator: " ").map(String.init))
    switch query {
    case Self.ofZones: self = .recordZone
    case Self.ofDatabases: self = .database
    default: self = .query(query)
    }
  }

  // What rows of types without a query have. A query's record type is never empty.
  private static let ofZones = Query(recordType: "", events: [], fields: ["zone"])
  private static let ofDatabases = Query(recordType: "", events: [], fields: ["database"])
}
