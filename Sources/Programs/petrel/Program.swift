import CommandInterface
import Foundation

extension Command {
  /// The default example: the command without options.
  static var example: String { "petrel \(name)" }
}

/// The program `petrel`: the server and the commands that manage it.
@main
enum Program {
  /// The program with its commands, in the order of the overview.
  static let petrel = CommandProgram(
    "petrel", "Petrel runs CloudKit subscriptions outside iCloud.",
    advice: { style in
      """
      Start with \(style.strong("petrel demo")), which runs an example, or with \
      \(style.strong("petrel serve")), which runs a server
      in this directory; \(style.strong("petrel doctor")) checks whether it works.
      """
    },
    sections: [
      .init(
        "Run a server",
        [
          ServeCommand.self, ConfigCommand.self, LimitsCommand.self, DoctorCommand.self,
          BackupCommand.self, RestoreCommand.self, StoreInitCommand.self, StoreMigrateCommand.self,
          StoreRestoredCommand.self, ServersListCommand.self, VersionCommand.self,
        ]),
      .init(
        "View and change data",
        [
          SchemaExportCommand.self, SchemaImportCommand.self, SchemaValidateCommand.self,
          SchemaDeployCommand.self, SchemaStatusCommand.self, RecordsQueryCommand.self,
          RecordsGetCommand.self, RecordsPutCommand.self, RecordsDeleteCommand.self,
          RecordsImportCommand.self, RecordsExportCommand.self, ZonesListCommand.self,
          ZonesSaveCommand.self, ZonesDeleteCommand.self, SubscriptionsListCommand.self,
          SubscriptionsShowCommand.self, SubscriptionsSaveCommand.self,
          SubscriptionsDeleteCommand.self, DatabasesPartitionCommand.self,
          SharesListCommand.self, SharesShowCommand.self, SharesRemoveCommand.self,
          SharesEndCommand.self, SharesNewLinkCommand.self,
        ]),
      .init(
        "Manage access",
        [
          UsersAddCommand.self, UsersListCommand.self, UsersShowCommand.self,
          UsersPasswordCommand.self, UsersAddTokenCommand.self, UsersSignOutCommand.self,
          UsersExportCommand.self, UsersDeleteCommand.self, KeysAddAPITokenCommand.self,
          KeysAddServerKeyCommand.self, KeysAddAdminKeyCommand.self, KeysListCommand.self,
          KeysRevokeCommand.self, RolesGrantCommand.self, RolesRevokeCommand.self,
          RolesListCommand.self, DevicesListCommand.self, DevicesRemoveCommand.self,
        ]),
      .init(
        "Find out why a push arrived or did not",
        [
          NotificationsListCommand.self, NotificationsWatchCommand.self, ExplainRecordCommand.self,
          ExplainSubscriptionCommand.self, ExplainDryRunCommand.self,
        ]),
      .init(
        "Try and develop",
        [DemoCommand.self, SimulateAPNsCommand.self, CompletionsCommand.self, ManualCommand.self]),
    ])

  static func main() async {
    CommandProgram.prepareProcess()
    exit(await petrel.run(Array(CommandLine.arguments.dropFirst())))
  }
}
