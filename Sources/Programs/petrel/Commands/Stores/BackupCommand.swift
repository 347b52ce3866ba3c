import CommandInterface
import PetrelServer
import Storage
import StoreModel
import StoreTools

/// The command `petrel backup`, which copies a store in a file with its assets into a new folder. A
/// server may run at the same time.
///
/// A store in PostgreSQL is refused, because PostgreSQL's own programs copy it.
struct BackupCommand: Command {
  let name = "backup"
  let example = "petrel backup /backups/petrel-2026-03-01 --data /var/lib/petrel"
  let summary = "Copies a store in a file, with its assets. A server may run meanwhile."
  let operands = "DIRECTORY"
  let options = [AdminOptions.json] + ConfigurationOptions.ofStore

  func run(_ arguments: Arguments) async throws -> Int32 {
    let target = try arguments.word("DIRECTORY")
    let (source, _) = try ConfigurationOptions.configuration(arguments)
    if let address = source.postgreSQL {
      throw StoreError(
        .cannotOpen,
        "the store is in PostgreSQL at \(address); copy it with pg_dump or pg_basebackup, and then copy "
          + "\(source.assetsPath) (docs/operate/backups.md, Backing up PostgreSQL)")
    }
    let progress = ProgressLine()
    defer { progress.end() }
    try await StoreBackup.make(ofStoreAt: source.storePath, in: target) {
      progress.show($0.text)
    }
    progress.end()
    if arguments.flag("json") {
      Output.json(["backup": .string(target), "data": .string(source.dataDirectory)])
    } else {
      Output.line("the backup is in \(target)")
    }
    return 0
  }
}

extension StoreBackup.Progress {
  var text: String {
    let percent = pages == 0 ? 0 : copiedPages * 100 / pages
    return "database \(percent) %, assets \(copiedAssets) of \(assets) "
  }
}
