import CommandInterface
import JSONCoding
import PetrelServer
import Storage
import StoreTools

/// The command `petrel store restored`, which an administrator runs after the store has become an
/// older one: PostgreSQL's programs have restored a copy, or the write-ahead log of a store in a
/// file is lost.
///
/// Devices may know changes that the store no longer has. The command makes sure that the store uses
/// no earlier number of a change again. The change tokens of devices expire, so the devices read
/// their zones again. With `--nothing-lost`, numbers and tokens continue as they are. A store that
/// was restored from a dump, or that lacks its log, refuses to open for a server until this command
/// has run.
struct StoreRestoredCommand: Command {
  let name = "store restored"
  let example = "petrel store restored --store postgres://petrel@db.example.com/petrel"
  let summary =
    "Makes devices read the whole store again, after it was restored or has lost its log."
  let options =
    ConfigurationOptions.ofStore + [
      .init(
        "nothing-lost", nil,
        "the store has all saved data, as after an upgrade of PostgreSQL: devices continue"
      ),
      AdminOptions.json,
    ]
  let exitStatuses: [(Int32, String)] = [
    (ExitStatus.done, "a server can start on the store"),
    (ExitStatus.failed, "the command did not finish; run it again"),
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let (configuration, _) = try ConfigurationOptions.configuration(arguments)
    let nothingLost = arguments.flag("nothing-lost")
    let name: String
    let databases: Int
    if let address = configuration.postgreSQL {
      name = "\(address)"
      databases = try await StoreBackup.completeRestoration(at: address, nothingLost: nothingLost)
    } else {
      name = configuration.storePath
      databases = try await StoreBackup.completeRestoration(
        ofStoreAt: name, nothingLost: nothingLost)
    }
    if arguments.flag("json") {
      Output.json([
        "store": .string(name), "databases": .int(Int64(databases)),
        "nothingLost": .bool(nothingLost),
      ])
    } else if nothingLost {
      Output.line(
        "a server can start on the store at \(name), and devices continue where they were")
    } else {
      Output.line(
        "devices read \(databases.counting("database")) of the store at \(name) again")
    }
    return ExitStatus.done
  }
}
