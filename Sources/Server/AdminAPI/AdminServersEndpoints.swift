import HTTPService
import JSONCoding
import StoreModel

/// The servers that have the store open.
struct AdminServersEndpoints: AdminEndpoints {
  let servers: (any ServerList)?

  var endpoints: [AdminEndpoint] {
    [
      .get("servers", [], list)
        .described(
          "The servers that have a shared store open, with the databases that they dispatch",
          answers: .object(["isShared": .bool, "servers": .list(.server)]))
    ]
  }

  private func list(_ request: AdminRequest) async throws -> HTTPResponse {
    let servers = try await self.servers?.listedServers()
    return request.object { writer in
      writer.member("isShared", servers != nil)
      writer.key("servers")
      writer.array { writer in
        for server in servers ?? [] {
          writer.object { writer in
            writer.member("id", server.id.rawValue)
            writer.member("description", server.description)
            writer.member("secondsLeft", server.secondsLeft)
            writer.member("leasedDatabases", server.leasedDatabases)
            writer.member("pendingWakeUps", server.pendingWakeUps)
          }
        }
      }
    }
  }
}
