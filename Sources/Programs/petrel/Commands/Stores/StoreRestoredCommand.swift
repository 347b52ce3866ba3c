import CommandInterface
import JSONCoding
import PetrelServer
import Storage
import StoreTools

/// The command `petrel store restored`, which an administrator runs after PostgreSQL's programs
/// have restored an older copy of the store.
///
/// Devices may know changes that are newer than the copy, so the store no longer has them. The
/// command makes sure that the store uses no earlier number of a change again. The change tokens of
/// devices expire, so the devices read their zones again. With `--nothing-lost`, numbers and tokens
/// continue as they are. A store that was restored from a dump refuses to open for a server until
/// this command has run.
enum StoreRestoredCommand: Command {
  static let name = "store restored"
  static let example = "petrel store restored --store postgres://petrel@db.example.com/petrel"
  static let summary =
    "Makes devices read the whole store again, after PostgreSQL's tools restored an older copy."
  static let options =
    ConfigurationOptions.ofStore + [
      .init(
        "nothing-lost", nil,
        "the copy has all saved data, as after an upgrade of PostgreSQL: devices continue"
      ),
      AdminOptions.json,
    ]
  static let exitStatuses: [(Int32, String)] = [
    (ExitStatus.done, "a server can start on the store"),
    (ExitStatus.failed, "the command did not finish; run it again"),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let (configuration, _) = try ConfigurationOptions.configuration(arguments)
    guard let address = configuration.postgreSQL else {
      throw UsageError(
        "needs a store in PostgreSQL: name it with --store postgres://…; for a store in a file, use "
          + "'petrel restore'")
    }
    let nothingLost = arguments.flag("nothing-lost")
    let databases = try await StoreBackup.completeRestoration(
      at: address, nothingLost: nothingLost)
    if arguments.flag("json") {
      Output.json([
        "store": .string("\(address)"), "databases": .int(Int64(databases)),
        "nothingLost": .bool(nothingLost),
      ])
    } else if nothingLost {
      Output.line(
        "a server can start on the store at \(address), and devices continue where they were")
    } else {
      Output.line(
        "devices read \(databases.counting("database")) of the store at \(address) again")
    }
    return ExitStatus.done
  }
}
