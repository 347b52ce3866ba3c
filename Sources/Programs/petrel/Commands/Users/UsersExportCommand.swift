import CommandInterface
import JSONCoding

/// The command `petrel users export`, which writes all data of a user into a new folder
/// (``UserExport``).
///
/// The folder has a temporary name until it is complete.
struct UsersExportCommand: Command {
  let name = "users export"
  let example = "petrel users export anna --to anna-data"
  let summary =
    "Writes all data of a user to files: account, records, assets, subscriptions, notifications."
  let operands = "NAME"
  let options: [Arguments.Option] =
    [
      .init(
        "to", "FOLDER", "the folder to create; an existing folder must be empty", isRequired: true),
      AdminOptions.json,
    ] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME, or user record name")
    guard let target = arguments.string("to"), !target.isEmpty else {
      throw UsageError("needs --to FOLDER")
    }
    return try await AdminOptions.withAccess(arguments) { access in
      let user = try await access.get("users/show", ["user": .string(name)])
      let folder = try ExportFolder(target)
      defer { folder.discard() }
      let progress = ProgressLine()
      defer { progress.end() }
      var export = UserExport(access: access, user: user, folder: folder, progress: progress)
      try await export.run()
      try folder.keep()
      progress.end()
      if arguments.flag("json") {
        Output.json([
          "folder": .string(target), "records": .int(Int64(export.records)),
          "notifications": .int(Int64(export.notifications)),
        ])
      } else {
        Output.line(
          export.records.counting("record") + " and "
            + export.notifications.counting("notification") + " in \(target)".printable)
      }
      return 0
    }
  }
}
