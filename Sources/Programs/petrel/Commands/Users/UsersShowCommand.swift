import CommandInterface

/// The command `petrel users show`, which prints the account of a user and up to 200 devices.
///
/// It calls `GET users/show` and `GET devices` of the admin API.
enum UsersShowCommand: Command {
  static let name = "users show"
  static let example = "petrel users show anna"
  static let summary = "Shows a user's account and devices."
  static let operands = "NAME"
  static let options: [Arguments.Option] = [AdminOptions.json] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let word = try arguments.word("NAME, or user record name")
    let (user, devices) = try await AdminOptions.withAccess(arguments) { access in
      let user = try await access.get("users/show", ["user": word])
      let recordName = user["userRecordName"]?.string
      return (user, try await access.get("devices", ["user": recordName, "limit": "200"]))
    }
    if arguments.flag("json") {
      var members = user.object ?? [:]
      members["devices"] = devices["devices"] ?? []
      Output.json(.object(members))
      return 0
    }
    Output.line("\(user["name"]?.string ?? "")".printable)
    for (title, member) in [
      ("user record", "userRecordName"), ("full name", "fullName"), ("e-mail", "emailAddress"),
      ("telephone", "phoneNumber"),
    ] {
      guard let text = user[member]?.string else { continue }
      Output.line("  \(title.padding(to: 12))\(text.printable)")
    }
    if let created = user["created"] {
      Output.line("  \("added".padding(to: 12))\(created.timeText)")
    }
    if user["isBeingDeleted"]?.bool == true { Output.line("  is being deleted") }
    let rows = devices["devices"]?.array ?? []
    Output.line(rows.isEmpty ? "no devices" : "devices:")
    var table = Table(DevicesListCommand.columns)
    table.print(rows)
    return 0
  }
}
