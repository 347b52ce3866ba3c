import CloudKitModel
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// Into how many parts public databases are divided, each of them dispatched by one server.
struct AdminPartitionEndpoints: AdminEndpoints {
  let servers: (any PartitionStore & ServerList)?
  let databases: AdminDatabases

  private static let arguments: [AdminArgument] = [.needed("container"), "environment"]

  var endpoints: [AdminEndpoint] {
    [
      .get("databases/partition", Self.arguments, show)
        .described(
          "Into how many parts a public database is divided, and who dispatches them",
          answers: .partition),
      .post("databases/partition", Self.arguments + [.needed("parts")], divide)
        .described(
          "Divides the subscribers of a public database into parts, each dispatched by one server",
          answers: .partition),
    ]
  }

  private func show(_ request: AdminRequest) async throws -> HTTPResponse {
    let (database, _) = try await databases.existing(request.arguments)
    return try await answer(request, try await servers?.partition(of: database), database)
  }

  private func divide(_ request: AdminRequest) async throws -> HTTPResponse {
    guard let parts = try request.arguments.int("parts", in: DatabasePart.counts) else {
      throw request.arguments.mistake("parts", "is missing")
    }
    let (database, _) = try await databases.existing(request.arguments)
    guard servers != nil || parts == 1 else {
      throw request.arguments.mistake(
        "parts",
        "must be 1 here: the store is one server's alone, and only databases of a store in PostgreSQL "
          + "are divided among servers")
    }
    return try await answer(
      request, try await servers?.partition(database, into: parts), database)
  }

  private func answer(
    _ request: AdminRequest, _ partition: Partition?, _ database: DatabaseID
  ) async throws -> HTTPResponse {
    let partition = partition ?? Partition(parts: 1)
    let leases = try await servers?.dividedDatabases() ?? []
    let names = Dictionary(
      try await servers?.servers().map { ($0.id, $0.description) } ?? [],
      uniquingKeysWith: { $1 })
    return request.object { writer in
      writer.member("parts", partition.parts)
      if let nextParts = partition.nextParts { writer.member("nextParts", nextParts) }
      writer.key("servers")
      writer.array { writer in
        for lease in leases where lease.part.database == database {
          writer.object { writer in
            writer.member("part", lease.part.number + 1)
            guard let holder = lease.holder else { return }
            writer.member("id", holder.rawValue)
            writer.member("description", ifPresent: names[holder])
          }
        }
      }
    }
  }
}
