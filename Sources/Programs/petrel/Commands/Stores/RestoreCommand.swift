import CommandInterface
import PetrelServer
import Storage
import StoreModel
import StoreTools

/// The command `petrel restore`, which creates a store from a backup. The data directory must not
/// have a store yet.
///
/// A store in PostgreSQL is refused, because PostgreSQL's own programs restore it.
struct RestoreCommand: Command {
  let name = "restore"
  let example = "petrel restore /backups/petrel-2026-03-01 --data /var/lib/petrel"
  let summary = "Restores a backup into a data directory that has no store."
  let operands = "DIRECTORY"
  let options = [AdminOptions.json] + ConfigurationOptions.ofStore

  func run(_ arguments: Arguments) async throws -> Int32 {
    let source = try arguments.word("DIRECTORY")
    let (target, _) = try ConfigurationOptions.configuration(arguments)
    if let address = target.postgreSQL {
      throw StoreError(
        .cannotOpen,
        "the store is in PostgreSQL at \(address); restore it with pg_restore or from a base backup, "
          + "together with \(target.assetsPath), and then run 'petrel store restored' "
          + "(docs/operate/backups.md, Going back to a copy)")
    }
    let progress = ProgressLine()
    defer { progress.end() }
    try await StoreBackup.restore(from: source, toStoreAt: target.storePath) {
      progress.show($0.text)
    }
    progress.end()
    if arguments.flag("json") {
      Output.json(["backup": .string(source), "data": .string(target.dataDirectory)])
    } else {
      Output.line("the store from \(source) is in \(target.dataDirectory)")
    }
    return 0
  }
}
