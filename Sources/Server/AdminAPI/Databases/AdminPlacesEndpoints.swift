import CloudKitModel
import Storage
import StoreModel
import WebServices

/// The endpoints `containers`, `databases` and `zones`, which list what their names say, and
/// `zones/modify`, which creates and deletes zones.
///
/// The answer of `databases`. A shared database has no member `bytes`:
///
///     { "databases": [ { "database": "public", "bytes": 20480 },
///                      { "database": "private", "user": "_3f2a…", "userName": "alice",
///                        "bytes": 512 },
///                      { "database": "shared", "user": "_3f2a…", "userName": "alice" } ] }
struct AdminPlacesEndpoints: AdminEndpoints {
  let administration: AdministrationService
  let zones: ZoneService
  let databases: AdminDatabases
  let configured: @Sendable () -> [String]

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "containers", [], "Containers that have databases or record types, or are configured",
      answers: .list("containers", of: Self.container), Self.containers),
    .get(
      "databases", [.container.needed, .environment, .limit, .continuation],
      "Databases with their owners, and the bytes of private databases",
      answers: .page("databases", of: Self.database), Self.listDatabases),
    .get(
      "zones", AdminArgument.ofDatabase, "The zones of a database",
      answers: .list("zones", of: Self.zone), Self.listZones),
    .post(
      "zones/modify", AdminArgument.ofDatabase + [.operations.needed], "Makes and deletes zones",
      answers: ZonesResponse.schema(in: .answers)
    ) { group in
      { try await group.databases.answer($0, operation: "zones/modify") }
    },
  ]

  // MARK: Containers

  private typealias Container = (name: String, environments: [ContainerEnvironment])

  private static let container = AnswerShape<Container>("Container") { container in
    container.member("container") { $0.name }
    container.member("environments") { $0.environments }
  }

  private func containers(_ request: AdminRequest) async throws -> [Container] {
    let known = try await administration.places()
    let names = Set(known.map(\.container)).union(configured()).sorted()
    return names.map { name in
      (name, known.filter { $0.container == name }.map(\.environment))
    }
  }

  // MARK: Databases

  /// A database with its size. The size of a shared database is nil, because its records belong to
  /// other databases.
  private typealias Database = (summary: DatabaseSummary, usage: DatabaseUsage?)

  private static let database = AnswerShape<Database>("Database") { database in
    database.member("database", as: .databaseScope) { $0.summary.name.scope.pathComponent }
    database.optional("user") { $0.summary.owner }
    database.optional("userName") { $0.summary.owner == nil ? nil : $0.summary.userName }
    database.optional("bytes", as: .count) { $0.usage?.bytes }
  }

  /// Returns a page of databases, ordered by scope and owner.
  private func listDatabases(_ request: AdminRequest) async throws -> AdminPage<Database> {
    let limit = request.arguments.limit
    let last = try AdminContinuation.parts(request.arguments, count: 2).flatMap { parts in
      Int(parts[0]).flatMap { DatabaseScope(rawValue: $0) }.map {
        DatabaseSummary.Name(scope: $0, owner: parts[1])
      }
    }
    let summaries = try await administration.databases(
      in: try request.arguments.place(), after: last, limit: limit)
    var page = AdminPage<Database>()
    for summary in summaries {
      let usage =
        summary.name.scope == .shared ? nil : try await databases.store.usage(of: summary.id)
      page.elements.append((summary, usage))
    }
    if summaries.count == limit, let last = summaries.last?.name {
      page.continuation = AdminContinuation.text([String(last.scope.rawValue), last.owner])
    }
    return page
  }

  // MARK: Zones

  private static let zone = AnswerShape<Zone>("ZoneEntry") { zone in
    zone.member("zoneName") { $0.zoneID.zoneName }
    zone.optional("ownerRecordName") {
      $0.zoneID.ownerName == ZoneID.currentOwnerName ? nil : $0.zoneID.ownerName
    }
    zone.member("isDefault") { $0.zoneID.isDefaultZone }
    zone.optional("syncToken") { $0.changeToken }
  }

  private func listZones(_ request: AdminRequest) async throws -> [Zone] {
    let address = try await databases.address(request.arguments)
    guard let database = try await databases.store.existingDatabase(at: address) else { return [] }
    return try await zones.zones(in: database)
  }
}

extension DatabaseSummary {
  fileprivate var owner: String? { name.scope == .public ? nil : name.owner }
}
