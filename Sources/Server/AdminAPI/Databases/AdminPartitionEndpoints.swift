import CloudKitModel
import JSONCoding
import Storage
import StoreModel
import WebServices

/// The endpoint `databases/partition`, which shows and sets the number of parts of a public
/// database. A part is a group of the database's subscribers. At most one server at a time
/// dispatches a part: it matches the changes with the subscriptions of this group.
///
/// The answer for a database that is about to be divided into 4 parts instead of 2:
///
///     { "parts": 2, "nextParts": 4,
///       "servers": [ { "part": 1, "id": 3, "description": "…" }, { "part": 2 } ] }
///
/// In this example, no server dispatches part 2 at the moment.
struct AdminPartitionEndpoints: AdminEndpoints {
  /// The store's tables of partitions and servers; nil if the store belongs to one server alone.
  let servers: ClusterService?
  let databases: AdminDatabases

  /// The present partition with the servers that dispatch its parts.
  private struct Answer {
    var partition: Partition
    /// The parts with their servers; empty for a database that is not divided.
    var holders: [Holder]
  }

  /// A part and the server that dispatches it.
  private struct Holder {
    /// The part's number, counted from 1. The store counts from 0.
    var part: Int
    /// The server; nil if no server dispatches the part at the moment.
    var server: ServerID?
    /// The server's description of where it runs.
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

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "databases/partition", AdminArgument.place,
      "The parts of a public database, and the servers that dispatch them",
      answers: Self.shape, Self.show),
    .post(
      "databases/partition", AdminArgument.place + [.parts.needed],
      "Divides the subscribers of a public database into parts, each dispatched by one server",
      answers: Self.shape, Self.divide),
  ]

  private func show(_ request: AdminRequest) async throws -> Answer {
    let (database, _) = try await databases.existing(request.arguments)
    return try await answer(try await servers?.partition(of: database), of: database)
  }

  /// Sets the number of parts; 1 means that the database is not divided. If committed changes wait
  /// for dispatch, the new number takes effect after these changes are dispatched.
  private func divide(_ request: AdminRequest) async throws -> Answer {
    guard let parts = request.arguments.int(.parts) else {
      throw request.arguments.mistake(.parts, "is missing")
    }
    let (database, _) = try await databases.existing(request.arguments)
    guard servers != nil || parts == 1 else {
      throw request.arguments.mistake(
        .parts,
        "must be 1 here: the store is the file of one server, and only databases in PostgreSQL "
          + "can be divided among servers")
    }
    return try await answer(
      try await servers?.partition(database, into: parts), of: database)
  }

  /// The server with the lease of a part is the one that dispatches the part.
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
