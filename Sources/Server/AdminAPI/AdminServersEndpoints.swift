import JSONCoding
import Storage
import StoreModel
import WebServices

/// The endpoint `servers`, which lists the servers that have the store open.
///
/// The list of a cluster with one server:
///
///     { "isShared": true,
///       "servers": [ { "id": 3, "description": "https://cloud.example.com, process 812 of …",
///                      "secondsLeft": 12.5, "leasedDatabases": 4, "pendingWakeUps": 0 } ] }
///
/// `secondsLeft` is the time until the server's registration expires. It is negative for a
/// registration that has expired and is not removed yet. `leasedDatabases` counts the databases,
/// and the parts of divided databases, whose changes the server dispatches. `pendingWakeUps` counts
/// those among them with committed changes of other servers that the server has not read yet.
struct AdminServersEndpoints: AdminEndpoints {
  /// The store's table of servers; nil if the store belongs to one server alone.
  let servers: ClusterService?

  private static let server = AnswerShape<ListedServer>("Server") { server in
    server.member("id", as: .count) { $0.id.rawValue }
    server.member("description") { $0.description }
    server.member("secondsLeft") { $0.secondsLeft }
    server.member("leasedDatabases", as: .count) { $0.leasedDatabases }
    server.member("pendingWakeUps", as: .count) { $0.pendingWakeUps }
  }

  /// The shape of the answer. A nil list means that the store belongs to one server alone.
  private static let list = AnswerShape<[ListedServer]?> { list in
    list.member("isShared") { $0 != nil }
    list.list("servers", of: server) { $0 ?? [] }
  }

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "servers", [],
      "The servers that have a shared store open, with the databases that they dispatch",
      answers: Self.list
    ) { group in { _ in try await group.servers?.listedServers() } }
  ]
}
