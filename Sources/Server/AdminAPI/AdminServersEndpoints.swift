import JSONCoding
import StoreModel
import WebServices

/// The servers that have the store open.
struct AdminServersEndpoints: AdminEndpoints {
  let servers: (any ServerList)?

  private static let server = AnswerShape<ListedServer>("Server") { server in
    server.member("id", as: .count) { $0.id.rawValue }
    server.member("description") { $0.description }
    server.member("secondsLeft") { $0.secondsLeft }
    server.member("leasedDatabases", as: .count) { $0.leasedDatabases }
    server.member("pendingWakeUps", as: .count) { $0.pendingWakeUps }
  }

  /// Nil where the store is one server's alone.
  private static let list = AnswerShape<[ListedServer]?> { list in
    list.member("isShared") { $0 != nil }
    list.list("servers", of: server) { $0 ?? [] }
  }

  var endpoints: [AdminEndpoint] {
    [
      .get(
        "servers", [],
        "The servers that have a shared store open, with the databases that they dispatch",
        answers: Self.list
      ) { _ in try await servers?.listedServers() }
    ]
  }
}
