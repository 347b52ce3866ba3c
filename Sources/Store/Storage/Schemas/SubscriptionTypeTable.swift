import CloudKitModel
import SQLEngine
import StoreModel

/// The table of the subscription types in the schemas of containers.
///
/// A subscription type is the part of a subscription that a schema knows: the record type, the
/// events and the filters' fields of a query subscription. All zone subscriptions have one type,
/// and all database subscriptions another.
///
/// Saving a subscription in development adds its type to the schema. A deployment copies the types
/// to production.
struct SubscriptionTypeTable: Table {
  let transaction: StoreTransaction

  /// `fields` has the names of the filters' fields, separated by spaces.
  static let definition = [
    """
    CREATE TABLE subscription_types (
      container TEXT NOT NULL, environment TEXT NOT NULL, record_type TEXT NOT NULL,
      events BIGINT NOT NULL, fields TEXT NOT NULL,
      PRIMARY KEY (container, environment, record_type, events, fields))
    """
  ]

  func insert(_ type: SubscriptionType, at place: ContainerPlace) throws {
    try decide(sql.insert, type.columns(at: place))
  }

  func contains(_ type: SubscriptionType, at place: ContainerPlace) throws -> Bool {
    try connection.exists(sql.exists, type.columns(at: place))
  }

  func types(
    of container: String, in environment: ContainerEnvironment
  ) throws -> [SubscriptionType] {
    try connection.rows(sql.types, [.text(container), .text(environment.rawValue)]) {
      SubscriptionType($0)
    }.sorted { $0.description < $1.description }
  }

  func remove(withType recordType: String, at place: ContainerPlace) throws {
    try decide(
      sql.remove, [.text(place.container), .text(place.environment.rawValue), .text(recordType)])
  }

  struct Statements {
    let insert: Statement = """
      INSERT INTO subscription_types (container, environment, record_type, events, fields)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (container, environment, record_type, events, fields) DO NOTHING
      """
    let exists: Statement = """
      SELECT 1 FROM subscription_types WHERE container = $1 AND environment = $2
        AND record_type = $3 AND events = $4 AND fields = $5
      """
    let types: Statement = """
      SELECT record_type, events, fields FROM subscription_types
      WHERE container = $1 AND environment = $2
      """
    let remove: Statement = """
      DELETE FROM subscription_types
      WHERE container = $1 AND environment = $2 AND record_type = $3
      """
  }
  static let sql = Statements()
}

extension SubscriptionType {
  fileprivate func columns(at place: ContainerPlace) -> [SQLValue] {
    let query =
      switch self {
      case .query(let query): query
      case .recordZone: Self.ofZones
      case .database: Self.ofDatabases
      }
    return [
      .text(place.container), .text(place.environment.rawValue), .text(query.recordType),
      .integer(Int64(query.events.rawValue)), .text(query.fields.joined(separator: " ")),
    ]
  }

  fileprivate init(_ row: any SQLRow) {
    let query = Query(
      recordType: row.text(0), events: .init(rawValue: UInt(row.integer(1))),
      fields: row.text(2).split(separator: " ").map(String.init))
    switch query {
    case Self.ofZones: self = .recordZone
    case Self.ofDatabases: self = .database
    default: self = .query(query)
    }
  }

  /// No query has these columns, because a query's record type is never empty.
  private static let ofZones = Query(recordType: "", events: [], fields: ["zone"])
  private static let ofDatabases = Query(recordType: "", events: [], fields: ["database"])
}
