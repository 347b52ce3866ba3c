import CMemoryAllocation
import Foundation

/// The program `petrel`: finds the command that the words name and runs it.
@main
enum Program {
  static let commands: [any Command.Type] = [
    ServeCommand.self, ConfigCommand.self, LimitsCommand.self, DoctorCommand.self,
    BackupCommand.self,
    RestoreCommand.self, StoreInitCommand.self, StoreMigrateCommand.self, StoreRestoredCommand.self,
    DemoCommand.self, UsersAddCommand.self,
    UsersListCommand.self, UsersShowCommand.self,
    UsersPasswordCommand.self, UsersAddTokenCommand.self, UsersSignOutCommand.self,
    UsersExportCommand.self, UsersDeleteCommand.self,
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
    NotificationsListCommand.self, NotificationsWatchCommand.self, ServersListCommand.self,
    DatabasesPartitionCommand.self,
    ExplainRecordCommand.self, ExplainSubscriptionCommand.self, ExplainTrialCommand.self,
    SimulateAPNsCommand.self, BenchSaveCommand.self, BenchNotifyCommand.self,
    BenchTestCloudCommand.self, BenchQueryCommand.self, BenchChangesCommand.self,
    BenchMatchCommand.self, BenchPushCommand.self, BenchFanOutCommand.self,
    BenchExplainCommand.self, BenchClusterCommand.self, BenchPartitionCommand.self,
    BenchSimulateCommand.self,
    CompletionsCommand.self,
    VersionCommand.self,
  ]

  static func main() async {
    // No command makes a file that others than its user may read, also not by way of a library or of
    // another program.
    umask(0o077)
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
    guard let first = words.first else {
      Output.writeError(Help.overview(.errors))
      return ExitStatus.usage
    }
    if ["help", "--help", "-h"].contains(first) {
      return help(words.dropFirst().filter { !$0.hasPrefix("-") })
    }
    if first == "--version" { return await run(["version"] + words.dropFirst()) }
    guard let command = command(named: words) else { return noCommand(words) }
    let rest = words.dropFirst(command.name.split(separator: " ").count)
    if rest.contains("--help") || rest.contains("-h") {
      Output.write(Help.text(of: command, .output))
      return ExitStatus.done
    }
    do {
      return try await command.run(Arguments(rest, options: command.options))
    } catch let error as UsageError {
      Output.complain("\(command.name): \(error); see petrel help \(command.name)")
      return ExitStatus.usage
    } catch {
      Output.complain("\(command.name): \(error)")
      return ExitStatus.failed
    }
  }

  /// The command that words begin with.
  private static func command(named words: [String]) -> (any Command.Type)? {
    commands.first { words.starts(with: $0.name.split(separator: " ").map(String.init)) }
  }

  /// Tells about what is named after `help`: a command, those with the same first word, or all.
  private static func help(_ words: [String]) -> Int32 {
    guard let first = words.first else {
      Output.write(Help.overview(.output))
      return ExitStatus.done
    }
    if let command = command(named: words) {
      Output.write(Help.text(of: command, .output))
      return ExitStatus.done
    }
    guard words.count == 1, let text = Help.text(ofGroup: first, .output) else {
      return noCommand(words)
    }
    Output.write(text)
    return ExitStatus.done
  }

  /// For words that are no command, or only the first word of some, such as `keys`.
  private static func noCommand(_ words: [String]) -> Int32 {
    let rest = words.dropFirst()
    if rest.isEmpty, let group = Help.text(ofGroup: words[0], .errors) {
      Output.complain("'\(words[0])' needs a second word:")
      Output.writeError(group)
      return ExitStatus.usage
    }
    let group = Help.text(ofGroup: words[0], .output)
    if let group, rest.allSatisfy({ ["--help", "-h"].contains($0) }) {
      Output.write(group)
      return ExitStatus.done
    }
    let typed = words.prefix(2).filter { !$0.hasPrefix("-") }.joined(separator: " ")
    if group != nil, typed == words[0] {
      Output.complain("'\(typed)' needs a second word; see petrel \(typed) --help")
      return ExitStatus.usage
    }
    let near = Help.nearest(to: typed).map { "did you mean 'petrel \($0)'?" }
    Output.complain(
      "unknown command '\(typed.isEmpty ? words[0] : typed)'; \(near ?? "see petrel --help")")
    return ExitStatus.usage
  }
}
