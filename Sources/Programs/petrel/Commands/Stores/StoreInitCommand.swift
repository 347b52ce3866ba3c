import CommandInterface
import JSONCoding
import PetrelServer
import Storage

/// The command `petrel store init`, which creates the store. The command is necessary only for a
/// store that Citus (an extension of PostgreSQL) distributes over several nodes. A server creates
/// any other store itself.
struct StoreInitCommand: Command {
  let name = "store init"
  let example = "petrel store init --store postgres://petrel@db.example.com/petrel --citus"
  let summary =
    "Creates the store, with --citus on several nodes. A server without a store creates one by itself."
  let options =
    ConfigurationOptions.ofStore + [
      .init("citus", nil, "distributes the store by database over the nodes that Citus knows"),
      .init(
        "shards", "COUNT",
        "the number of shards (default \(StoreDistribution.standardShardCount)); it is final"),
      AdminOptions.json,
    ]
  let exitStatuses: [(Int32, String)] = [
    (ExitStatus.done, "the store exists"),
    (ExitStatus.failed, "nothing was changed"),
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let (configuration, _) = try ConfigurationOptions.configuration(arguments)
    let shardCount = try arguments.int("shards", in: StoreDistribution.shardCounts)
    let location = configuration.storeLocation
    let place = Self.place(of: location).printable
    guard arguments.flag("citus") else {
      guard shardCount == nil else { throw UsageError("--shards needs --citus") }
      var options = StoreConfiguration()
      options.role = .tool
      let store = try await Store.open(at: location, configuration: options)
      await store.close()
      Self.report(arguments, place, nil)
      return ExitStatus.done
    }
    guard case .postgreSQL(let address, _) = location else {
      throw UsageError("--citus needs a store in PostgreSQL: name it with --store postgres://…")
    }
    let count = shardCount ?? StoreDistribution.standardShardCount
    try await StoreDistribution.begin(at: address, shardCount: count)
    Self.report(arguments, place, count)
    return ExitStatus.done
  }

  private static func place(of location: StoreLocation) -> String {
    switch location {
    case .memory: "memory"
    case .file(let path): path
    case .postgreSQL(let address, _): "\(address)"
    }
  }

  /// Prints the location of the store, and the number of shards if Citus distributes the store.
  private static func report(_ arguments: Arguments, _ place: String, _ shardCount: Int?) {
    if arguments.flag("json") {
      Output.json([
        "store": .string(place), "shards": shardCount.map { .int(Int64($0)) } ?? .null,
      ])
    } else {
      let shards = shardCount.map { ", by database in \($0.counting("shard"))" } ?? ""
      Output.line("the store is in \(place)\(shards)")
    }
  }
}
