import CloudKitModel
import JSONCoding
import StoreModel
import WebServices

/// Into how many parts public databases are divided, each of them dispatched by one server.
struct AdminPartitionEndpoints: AdminEndpoints {
  let servers: (any PartitionStore & ServerList)?
  let databases: AdminDatabases

  private static let arguments: [AdminArgument] = [.container.needed, .environment]

  private struct Answer {
    var partition: Partition
    /// The servers that dispatch the parts.
    var holders: [Holder]
  }

  private struct Holder {
    /// The part's number, from 1.
    var part: Int
    /// Nil for a part that no server dispatches at the moment.
    var server: ServerID?
    var description: String?
  }

  private static let holder = AnswerShape<Holder> { holder in
    holder.member("part", as: .count) { $0.part }
    holder.optional("id", as: .count) { $0.server?.rawValue }
    holder.optional("description") { $0.description }
  }

  private static let shape = AnswerShape<Answer>("Partition") { answer in
    answer.member("parts", as: .count) { $0.partition.parts }
    answer.optional("nextParts", as: .count) { $0.partition.nextParts }
    answer.list("servers", of: holder) { $0.holders }
  }

  var endpoints: [AdminEndpoint] {
    [
      .get(
        "databases/partition", Self.arguments,
        "Into how many parts a public database is divided, and who dispatches them",
        answers: Self.shape, show),
      .post(
        "databases/partition", Self.arguments + [.parts.needed],
        "Divides the subscribers of a public database into parts, each dispatched by one server",
        answers: Self.shape, divide),
    ]
  }

  private func show(_ request: AdminRequest) async throws -> Answer {
    let (database, _) = try await databases.existing(request.arguments)
    return try await answer(try await servers?.partition(of: database), of: database)
  }

  private func divide(_ request: AdminRequest) async throws -> Answer {
    guard let parts = request.arguments.int(.parts) else {
      throw request.arguments.mistake(.parts, "is missing")
    }
    let (database, _) = try await databases.existing(request.arguments)
    guard servers != nil || parts == 1 else {
      throw request.arguments.mistake(
        .parts,
        "must be 1 here: the store is one server's alone, and only databases of a store in PostgreSQL "
          + "are divided among servers")
    }
    return try await answer(
      try await servers?.partition(database, into: parts), of: database)
  }

  private func answer(_ partition: Partition?, of database: DatabaseID) async throws -> Answer {
    let names = Dictionary(
      try await servers?.servers().map { ($0.id, $0.description) } ?? [],
      uniquingKeysWith: { $1 })
    let leases = try await servers?.dividedDatabases() ?? []
    return Answer(
      partition: partition ?? Partition(parts: 1),
      holders: leases.filter { $0.part.database == database }.map { lease in
        Holder(
          part: lease.part.number + 1, server: lease.holder,
          description: lease.holder.flatMap { names[$0] })
      })
  }
}
