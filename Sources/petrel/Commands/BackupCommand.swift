import PetrelServer
import Storage

/// `petrel backup`
enum BackupCommand: Command {
  static let name = "backup"
  static let summary = "Copies the store and its assets, beside a server that may run."
  static let operands = "DIRECTORY"
  static let options = [ServeCommand.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let target = try arguments.word("DIRECTORY")
    let source = ServerConfiguration(dataDirectory: ServeCommand.dataDirectory(arguments))
    let progress = CopyProgress()
    defer { progress.end() }
    try await StoreBackup.make(ofStoreAt: source.storePath, in: target) { progress.show($0) }
    progress.end()
    Output.line("the backup lies in \(target)")
    return 0
  }
}
