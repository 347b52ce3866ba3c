import CommandInterface
import Foundation

extension Command {
  var example: String { "petrel \(name)" }
}

/// The program `petrel`: the server and the commands that manage it.
@main
enum Program {
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
          ServeCommand(), ConfigCommand(), LimitsCommand(), DoctorCommand(),
          BackupCommand(), RestoreCommand(), StoreInitCommand(), StoreMigrateCommand(),
          StoreRestoredCommand(), AdminCommand.serversList, VersionCommand(),
        ]),
      .init(
        "View and change data",
        [
          SchemaExportCommand(), SchemaImportCommand(), SchemaValidateCommand(),
          SchemaDeployCommand(), AdminCommand.schemaStatus, AdminCommand.recordsQuery,
          AdminCommand.recordsGet, RecordsPutCommand(), AdminCommand.recordsDelete,
          RecordsImportCommand(), RecordsExportCommand(), AdminCommand.zonesList,
          AdminCommand.zonesSave, AdminCommand.zonesDelete, AdminCommand.subscriptionsList,
          AdminCommand.subscriptionsShow, SubscriptionsSaveCommand(),
          SubscriptionsDeleteCommand(), AdminCommand.databasesPartition,
          AdminCommand.sharesList, AdminCommand.sharesShow, AdminCommand.sharesRemove,
          AdminCommand.sharesEnd, AdminCommand.sharesNewLink,
        ]),
      .init(
        "Manage access",
        [
          AdminCommand.usersAdd, AdminCommand.usersList, AdminCommand.usersShow,
          AdminCommand.usersPassword, AdminCommand.usersAddToken, AdminCommand.usersSignOut,
          UsersExportCommand(), UsersDeleteCommand(), AdminCommand.keysAddAPIToken,
          KeysAddServerKeyCommand(), AdminCommand.keysAddAdminKey, AdminCommand.keysList,
          AdminCommand.keysRevoke, AdminCommand.rolesGrant, AdminCommand.rolesRevoke,
          AdminCommand.rolesList, AdminCommand.devicesList, AdminCommand.devicesRemove,
        ]),
      .init(
        "Find out why a push arrived or did not",
        [
          AdminCommand.notificationsList, NotificationsWatchCommand(), AdminCommand.explainRecord,
          AdminCommand.explainSubscription, ExplainDryRunCommand(),
        ]),
      .init(
        "Try and develop",
        [DemoCommand(), SimulateAPNsCommand(), CompletionsCommand(), ManualCommand()]),
    ])

  static func main() async {
    CommandProgram.prepareProcess()
    exit(await petrel.run(Array(CommandLine.arguments.dropFirst())))
  }
}
