import CloudKitModel
import DatabaseAPI
import Foundation
import SQLEngine
import Storage

/// The users and databases of the cluster benchmark.
///
/// Each user has a private database with a zone. Some users are *subscribed*: their private
/// databases have ten subscriptions each. The other users are *quiet*: their private databases have
/// no subscriptions. The public database has ten subscriptions too. Each record fires one of the
/// ten.
struct ClusterSetup: Sendable {
  /// The number of stations. Each record belongs to a station, and each subscription asks for the
  /// records of one.
  static let stations = 10

  var subscribed: [String]
  var quiet: [String]
  var reader: String

  /// Creates the users and the record type in the store. Call the method before a server runs.
  ///
  /// - Parameter databases: The number of subscribed users, and of quiet users.
  static func prepare(store address: String, directory: String, databases: Int) async throws
    -> ClusterSetup
  {
    let location = StoreLocation.postgreSQL(
      try PostgreSQLAddress(address), assets: directory + "/petrel-assets")
    let store = try await Store.open(
      at: location, configuration: StoreConfiguration(role: .tool))
    do {
      func tokens(_ prefix: String) async throws -> [String] {
        var tokens: [String] = []
        for number in 0..<databases {
          let name = "\(prefix)-\(number)"
          let known = try await store.accounts.user(named: name)
          let user =
            if let known { known } else { try await store.accounts.addUser(named: name, at: .now) }
          tokens.append(try await Account.makeToken(for: user, in: store.accounts, at: .now))
        }
        return tokens
      }
      let reader = try await store.accounts.addUser(named: "reader", at: .now)
      let setup = ClusterSetup(
        subscribed: try await tokens("bench"), quiet: try await tokens("quiet"),
        reader: try await Account.makeToken(for: reader, in: store.accounts, at: .now))
      let schema = ContainerSchema(
        recordTypes: [
          "Earthquake": .init(
            fields: [
              "magnitude": .init(FieldType(.double), indexes: [.queryable, .sortable]),
              "station": .init(FieldType(.int64), indexes: [.queryable, .sortable]),
              "place": .init(FieldType(.string), indexes: [.queryable, .sortable]),
            ], systemIndexes: [.recordName: [.queryable]])
        ])
      _ = try await store.schemas.importSchema(
        schema, of: EarthquakeRequests.container, isDryRun: false)
      await store.close()
      return setup
    } catch {
      await store.close()
      throw error
    }
  }

  /// Creates the zones and subscriptions through a server that runs at a port.
  ///
  /// - Returns: The path at which the reader requests notifications.
  func fill(over port: Int) throws -> String {
    let connection = try LoadConnection(port: port)
    for token in subscribed + quiet + [reader] {
      try connection.post(
        path("zones/modify", scope: "private", token: token),
        Array(
          #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Bench"}}}]}"#
            .utf8))
    }
    for token in subscribed + [reader] { try subscribe(token, scope: "private", over: connection) }
    if let first = subscribed.first { try subscribe(first, scope: "public", over: connection) }
    return try ClusterReader.register(token: reader, over: connection)
  }

  /// Returns requests that each save a record into the reader's private database. Each record fires
  /// one subscription of the reader, and its name contains the time of sending.
  func readerRequests() -> [LoadRequest] {
    let path = path("records/modify", scope: "private", token: reader)
    return (0..<Self.stations).map {
      request(path, zone: "Bench", number: $0, bearsTime: true)
    }
  }

  /// Requests of quiet users never save into the public database.
  ///
  /// - Parameter publicShare: The percentage of saves into the public database.
  func requests(subscribed isSubscribed: Bool, publicShare: Int) -> [LoadRequest] {
    let tokens = isSubscribed ? subscribed : quiet
    return (0..<max(1_000, tokens.count)).map { number in
      let token = tokens[number % tokens.count]
      // The public saves are spread evenly over the list.
      let isPublic = isSubscribed && number * publicShare % 100 < publicShare
      return request(
        path("records/modify", scope: isPublic ? "public" : "private", token: token),
        zone: isPublic ? "_defaultZone" : "Bench", number: number)
    }
  }

  private func path(_ operation: String, scope: String, token: String) -> String {
    EarthquakeRequests.path(operation, scope: scope, token: token, device: "bench")
  }

  private func subscribe(
    _ token: String, scope: String, over connection: LoadConnection
  ) throws {
    try connection.post(
      path("subscriptions/modify", scope: scope, token: token),
      EarthquakeRequests.subscribe(stations: 0..<Self.stations))
  }

  /// Returns a request that saves one record.
  ///
  /// - Parameters:
  ///   - number: The number from which the record's field values are computed.
  ///   - bearsTime: Whether the record name contains the time of sending.
  private func request(
    _ path: String, zone: String, number: Int, bearsTime: Bool = false
  ) -> LoadRequest {
    var body = Array(
      """
      {"zoneID":{"zoneName":"\(zone)"},"operations":[{"operationType":"create","record":\
      {"recordType":"Earthquake","recordName":"
      """.utf8)
    let name = body.count
    body += [UInt8](repeating: UInt8(ascii: "0"), count: LoadRequest.nameLength)
    body +=
      """
      ","fields":{"magnitude":{"value":\(4 + Double(number % 30) / 10),"type":"DOUBLE"},\
      "station":{"value":\(number % Self.stations),"type":"INT64"},\
      "place":{"value":"\(number) km from Suva","type":"STRING"}}}}]}
      """.utf8
    return LoadRequest(path: path, body: body, names: [name], bearsTime: bearsTime)
  }
}
