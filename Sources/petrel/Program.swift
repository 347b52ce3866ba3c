import CMemoryAllocation
import Foundation

/// The program `petrel`: finds the command that the words name and runs it.
@main
enum Program {
  private static let commands: [any Command.Type] = [
    ServeCommand.self, ConfigCommand.self, BackupCommand.self, RestoreCommand.self,
    DemoCommand.self, UsersAddCommand.self,
    UsersListCommand.self, UsersShowCommand.self,
    UsersPasswordCommand.self, UsersAddTokenCommand.self, UsersSignOutCommand.self,
    KeysAddAPITokenCommand.self, KeysAddServerKeyCommand.self, KeysAddAdminKeyCommand.self,
    KeysListCommand.self, KeysRevokeCommand.self,
    RolesGrantCommand.self, RolesRevokeCommand.self, RolesListCommand.self,
    SchemaExportCommand.self, SchemaImportCommand.self, SchemaValidateCommand.self,
    SchemaDeployCommand.self, SchemaStatusCommand.self,
    RecordsQueryCommand.self, RecordsGetCommand.self, RecordsPutCommand.self,
    RecordsDeleteCommand.self, RecordsImportCommand.self, RecordsExportCommand.self,
    ZonesListCommand.self, ZonesSaveCommand.self, ZonesDeleteCommand.self,
    SubscriptionsListCommand.self, SubscriptionsShowCommand.self, SubscriptionsSaveCommand.self,
    SubscriptionsDeleteCommand.self, DevicesListCommand.self, DevicesRemoveCommand.self,
    NotificationsListCommand.self, NotificationsWatchCommand.self,
    ExplainRecordCommand.self, ExplainSubscriptionCommand.self, ExplainTrialCommand.self,
    SimulateAPNsCommand.self, BenchSaveCommand.self, BenchNotifyCommand.self,
    BenchTestCloudCommand.self, BenchQueryCommand.self, BenchChangesCommand.self,
    BenchMatchCommand.self, BenchPushCommand.self, BenchFanOutCommand.self,
    BenchExplainCommand.self, VersionCommand.self,
  ]

  static func main() async {
    // What is larger than this goes back to the system when it is freed. Without a fixed limit the C
    // library keeps it, up to 32 MB each, from the first one on that is freed: an index that loses
    // most of its subscriptions would keep most of its memory. What is made again and again is smaller:
    // new memory from the system costs more than to fill it. So does the end of the heap, which by
    // default goes back whenever 128 KB of it are free.
    mallopt(M_MMAP_THRESHOLD, 4 << 20)
    mallopt(M_TRIM_THRESHOLD, 16 << 20)
    exit(await run(Array(CommandLine.arguments.dropFirst())))
  }

  private static func run(_ words: [String]) async -> Int32 {
    guard let first = words.first, first != "--help", first != "help" else {
      Output.write(overview)
      return words.isEmpty ? 64 : 0
    }
    let command = commands.first { command in
      words.starts(with: command.name.split(separator: " ").map(String.init))
    }
    guard let command else {
      // The first word of several commands, such as `keys`.
      let group = commands.filter { $0.name.hasPrefix(first + " ") }
      if !group.isEmpty, words.dropFirst().allSatisfy({ $0 == "--help" }) {
        Output.write(list(of: group) + "\n")
        return words.count == 1 ? 64 : 0
      }
      Output.complain(
        "unknown command '\(words.prefix(2).joined(separator: " "))'; see petrel --help")
      return 64
    }
    let rest = words.dropFirst(command.name.split(separator: " ").count)
    if rest.contains("--help") {
      Output.write(command.help)
      return 0
    }
    do {
      return try await command.run(Arguments(rest, options: command.options))
    } catch let error as UsageError {
      Output.complain("\(command.name): \(error); see petrel \(command.name) --help")
      return 64
    } catch {
      Output.complain("\(command.name): \(error)")
      return 1
    }
  }

  private static func list(of commands: [any Command.Type]) -> String {
    let width = commands.map { $0.name.count }.max() ?? 0
    return commands.map { "  \($0.name.padding(to: width))  \($0.summary)" }
      .joined(separator: "\n")
  }

  private static var overview: String {
    """
    Petrel runs CloudKit subscriptions outside iCloud.

    usage: petrel COMMAND [OPTION…]

    \(list(of: commands))

    petrel COMMAND --help tells the options of a command.

    """
  }
}
