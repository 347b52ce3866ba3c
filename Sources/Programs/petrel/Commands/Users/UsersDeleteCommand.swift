import CommandInterface
import Foundation
import JSONCoding
import Storage
import StoreModel

/// The command `petrel users delete`, which deletes a user with the user's private databases,
/// subscriptions and devices.
///
/// The admin API starts the deletion (`POST users/delete`), which then has several steps. If the
/// command calls a server, that server does the steps in the background, and the command waits. If
/// the command works directly on a store, it does the steps itself.
struct UsersDeleteCommand: Command {
  let name = "users delete"
  let example = "petrel users delete anna --public-records keep"
  let summary =
    "Deletes a user with all data of the user. Earlier backups and exports still contain the data."
  let operands = "NAME"
  let options: [Arguments.Option] =
    [
      .init(
        "public-records", "WHAT",
        "the choice for public records that the user created: keep removes only the user's name from "
          + "them, delete deletes them", words: choices, isRequired: true),
      .init("yes", nil, "does not ask for confirmation"), AdminOptions.json,
    ] + AdminOptions.all

  private static let choices = UserDeletion.PublicRecords.allCases.map(\.rawValue)

  func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME, or user record name")
    guard let choice = arguments.string("public-records") else {
      throw UsageError("needs --public-records keep or --public-records delete")
    }
    guard Self.choices.contains(choice) else {
      throw UsageError("--public-records must be keep or delete, not '\(choice)'")
    }
    return try await AdminOptions.withAccess(arguments, .withoutServer) { access in
      let user = try await access.get("users/show", ["user": .string(name)])
      if !arguments.flag("yes"), user["isBeingDeleted"]?.bool != true {
        try Self.confirm(user["name"]?.string ?? name, choice)
      }
      let deletion = try await access.post(
        "users/delete", ["user": .string(name), "publicRecords": .string(choice)])
      let progress = ProgressLine()
      defer { progress.end() }
      let isWhole =
        if let local = access as? LocalAdminAccess {
          try await Self.finish(on: local.maintenance, isServed: local.isServed, progress)
        } else {
          try await Self.follow(deletion, on: access, progress)
        }
      progress.end()
      if arguments.flag("json") {
        var members = deletion.object ?? [:]
        members["isWhole"] = .bool(isWhole)
        Output.json(.object(members))
      } else if isWhole {
        Output.line("deleted \(user["name"]?.string ?? name)".printable)
      } else {
        Output.line(
          "\(user["name"]?.string ?? name)".printable
            + " has no access any more. The next server that starts dispatches the changes of public "
            + "records and deletes the rest")
      }
      return 0
    }
  }

  /// Asks the user at the terminal to type the name of the user to delete.
  ///
  /// - Throws: `UsageError` without a terminal, ``AdminFailure`` if another name is typed.
  private static func confirm(_ name: String, _ choice: String) throws {
    guard isatty(STDIN_FILENO) == 1 else {
      throw UsageError("needs --yes, because there is no terminal for the confirmation")
    }
    let records =
      choice == "keep"
      ? "Public records that the user created stay without the user's name."
      : "Public records that the user created are deleted, too."
    Output.writeError(
      "This deletes the user '\(name)'".printable
        + " with private databases, files, subscriptions and devices.\n"
        + records + " It cannot be undone.\nType the name to go on: ")
    guard readLine() == name else {
      throw AdminFailure("the typed name is not the user's name; nothing was deleted")
    }
  }

  /// Does the steps of the deletion in this process.
  ///
  /// - Returns: `true` if the deletion is complete. `false` if changes of public records must be
  ///   dispatched first, and no server that could dispatch them has the store open.
  private static func finish(
    on maintenance: MaintenanceService, isServed: Bool, _ progress: ProgressLine
  ) async throws -> Bool {
    while let deletion = try await maintenance.continueUserDeletion(at: .now) {
      progress.show(text(deletion.done, "\(deletion.stage)"))
      guard deletion.state == .waiting else { continue }
      if deletion.stage == .dispatch, !isServed { return false }
      try await Task.sleep(for: .milliseconds(200))
    }
    return true
  }

  private static func follow(
    _ deletion: JSONValue, on access: any AdminAccess, _ progress: ProgressLine
  ) async throws -> Bool {
    while true {
      let all = try await access.get("users/deletions")["deletions"]?.array ?? []
      guard let now = all.first(where: { $0["identifier"] == deletion["identifier"] }) else {
        return true
      }
      progress.show(text(Int(now["done"]?.int ?? 0), now["stage"]?.string ?? ""))
      try await Task.sleep(for: .milliseconds(300))
    }
  }

  private static func text(_ done: Int, _ stage: String) -> String {
    done.counting("row") + " removed or made anonymous (\(stage)) "
  }
}
