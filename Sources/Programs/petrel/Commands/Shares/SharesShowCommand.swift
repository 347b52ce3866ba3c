import CommandInterface
import JSONCoding

/// The command `petrel shares show`, which prints a share with its participants and its link.
///
/// It calls `GET shares/show` of the admin API.
enum SharesShowCommand: Command {
  static let name = "shares show"
  static let example =
    "petrel shares show Share-0F3A --container iCloud.com.example.app --owner anna --zone Notes"
  static let summary = "Shows a share: its participants, its link and the number of its records."
  static let operands = "SHARE"
  static let options = ShareOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let query = try ShareOptions.members(arguments, share: arguments.word(ShareOptions.word))
    let share = try await AdminOptions.withAccess(arguments) {
      try await $0.get("shares/show", query.mapValues { $0 })
    }
    if arguments.flag("json") {
      Output.json(share)
    } else {
      show(share)
    }
    return 0
  }

  /// Prints a share for people.
  private static func show(_ share: JSONValue) {
    Output.line("\(share["share"]?.string ?? "")".printable)
    let records = share["records"]?.int ?? 0
    let covers = records == 1 ? "1 record" : "\(records) records"
    let allows = share["allowsAccessRequests"]?.bool == true
    for (title, text) in [
      ("owner", share["ownerName"]?.string), ("user record", share["owner"]?.string),
      ("zone", share["zone"]?.string), ("root", share["root"]?.string ?? "the whole zone"),
      ("covers", share["moreRecords"]?.bool == true ? "more than \(covers)" : covers),
      ("public", share["publicPermission"]?.string), ("link", share["link"]?.string),
      ("requests", allows ? "allowed" : "ignored"),
      ("requesters", names(share["requesters"])), ("blocked", names(share["blocked"])),
    ] {
      if let text { Output.line("  \(title.padding(to: 12))\(text.printable)") }
    }
    Output.line("participants:")
    var table = Table([
      .init("PARTICIPANT") { participant in
        ["userName", "user", "emailAddress", "phoneNumber"].lazy
          .compactMap { participant[$0]?.string }.first ?? "whoever has the link"
      },
      .init("ROLE", "role"), .init("PERMISSION", "permission"), .init("STATE", "state"),
      .init("ADDED") { $0["added"]?.timeText ?? "" }, .init("ID", "participantID"),
    ])
    table.print(share["participants"]?.array ?? [])
  }

  /// Returns the names of users; nil if there are none.
  private static func names(_ users: JSONValue?) -> String? {
    let names = (users?.array ?? []).compactMap { $0["userName"]?.string ?? $0["user"]?.string }
    return names.isEmpty ? nil : names.joined(separator: ", ")
  }
}

/// The options that name a share. They are the same for all commands about one share.
enum ShareOptions {
  /// The options of the commands.
  static let all: [Arguments.Option] =
    [
      ContainerOptions.container, ContainerOptions.environment,
      .init("owner", "USER", "the owner: a name or a user record name", isRequired: true),
      .init("zone", "NAME", "the zone of the share", isRequired: true), AdminOptions.json,
    ] + AdminOptions.all

  /// The operand of a share, for error messages.
  static let word = "SHARE, as 'petrel shares list' shows it"

  /// Returns the arguments of the admin API that name a share.
  ///
  /// - Throws: `UsageError` if an option is missing.
  static func members(_ arguments: Arguments, share: String) throws -> [String: String] {
    var members = try RolesCommand.place(arguments)
    for name in ["owner", "zone"] {
      guard let text = arguments.string(name), !text.isEmpty else {
        throw UsageError("needs --\(name) \(name == "owner" ? "USER" : "NAME")")
      }
      members[name] = text
    }
    members["share"] = share
    return members
  }
}
