import SQLEngine
import StoreModel

/// The routes of deliveries, with a number for each: a kind of device, a container, an APNs
/// environment and a bundle ID. The table stays small, because there are few of each. Its rows are
/// never deleted.
struct PushRouteTable: Table {
  let transaction: StoreTransaction

  /// `apns_environment` and `bundle_id` have a value for all kinds, because they are part of a
  /// unique key. `bundle_id` is empty if the registrations name none.
  static let definition = [
    """
    CREATE TABLE push_routes (
      route BIGINT PRIMARY KEY, kind TEXT NOT NULL, container TEXT NOT NULL,
      apns_environment TEXT NOT NULL, bundle_id TEXT NOT NULL,
      UNIQUE (kind, container, apns_environment, bundle_id))
    """
  ]

  /// The first call for a route assigns the number, with the reference lock.
  func number(of route: DeliveryRoute) throws -> DeliveryRoute.ID {
    if let known = transaction.catalog.routes[route] { return known }
    let names: [SQLValue] = [
      .text(route.kind.rawValue), .text(route.container), .text(route.apnsEnvironment.rawValue),
      .text(route.bundleID ?? ""),
    ]
    let found = try connection.first(sql.number, names) {
      DeliveryRoute.ID(rawValue: $0.integer(0))
    }
    let number =
      try found
      ?? DeliveryRoute.ID(rawValue: CounterTable(transaction: transaction).next("push_route"))
    if found == nil {
      try decide(sql.add, names + [.integer(number.rawValue)])
    }
    transaction.catalog.routes[route] = number
    return number
  }

  func routes() throws -> [DeliveryRoute.ID: DeliveryRoute] {
    var routes: [DeliveryRoute.ID: DeliveryRoute] = [:]
    try connection.query(sql.routes, []) { row in
      guard let kind = DeviceToken.Kind(rawValue: row.text(1)),
        let environment = APNsEnvironment(rawValue: row.text(3))
      else { throw StoreError(.corrupt, "route \(row.integer(0)) has unknown attributes") }
      routes[DeliveryRoute.ID(rawValue: row.integer(0))] = DeliveryRoute(
        kind: kind, container: row.text(2), apnsEnvironment: environment,
        bundleID: row.text(4).isEmpty ? nil : row.text(4))
    }
    return routes
  }

  struct Statements {
    let number: Statement = """
      SELECT route FROM push_routes
      WHERE kind = $1 AND container = $2 AND apns_environment = $3 AND bundle_id = $4
      """
    let add: Statement = """
      INSERT INTO push_routes (kind, container, apns_environment, bundle_id, route)
      VALUES ($1, $2, $3, $4, $5)
      """
    let routes = "SELECT route, kind, container, apns_environment, bundle_id FROM push_routes"
      .except(.wholeTable)
  }
  static let sql = Statements()
}
