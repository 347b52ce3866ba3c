import CommandInterface
import JSONCoding

/// The parts that the commands share that change a share.
private enum SharesWork {
  /// Changes a share.
  ///
  /// - Parameters:
  ///   - path: The path of the `POST` call of the admin API.
  ///   - body: The members of the call.
  ///   - done: Returns the line to print; without `--json` it is printed.
  static func post(
    _ path: String, _ body: [String: String], _ arguments: Arguments,
    done: (JSONValue) -> String
  ) async throws -> Int32 {
    // The save of a share is a change that a server dispatches.
    let answer = try await AdminOptions.withAccess(arguments, .withoutServer) {
      try await $0.post(path, body.json)
    }
    if arguments.flag("json") {
      Output.json(answer)
    } else {
      Output.line(done(answer).printable)
    }
    return 0
  }
}

/// The command `petrel shares remove`, which removes a participant from a share or withdraws an
/// invitation.
///
/// It calls `POST shares/remove` of the admin API.
enum SharesRemoveCommand: Command {
  static let name = "shares remove"
  static let example =
    "petrel shares remove Share-0F3A ben --container iCloud.com.example.app --owner anna "
    + "--zone Notes"
  static let summary = "Removes a participant from a share, or withdraws an invitation."
  static let operands = "SHARE PARTICIPANT"
  static let options = ShareOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let words = arguments.positional
    guard words.count == 2, !words.contains("") else {
      throw UsageError("needs a SHARE and a PARTICIPANT, as 'petrel shares show' shows them")
    }
    var body = try ShareOptions.members(arguments, share: words[0])
    body["participant"] = words[1]
    return try await SharesWork.post("shares/remove", body, arguments) { _ in
      "removed \(words[1]) from \(words[0])"
    }
  }
}

/// The command `petrel shares end`, which ends a share. Its records stay with the owner.
///
/// It calls `POST shares/end` of the admin API.
enum SharesEndCommand: Command {
  static let name = "shares end"
  static let example =
    "petrel shares end Share-0F3A --container iCloud.com.example.app --owner anna --zone Notes"
  static let summary = "Ends a share for all participants. Its records stay with the owner."
  static let operands = "SHARE"
  static let options = ShareOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let share = try arguments.word(ShareOptions.word)
    return try await SharesWork.post(
      "shares/end", try ShareOptions.members(arguments, share: share), arguments
    ) { _ in "ended \(share)" }
  }
}

/// The command `petrel shares new-link`, which replaces the link of a share. The participants stay.
///
/// It calls `POST shares/new-link` of the admin API.
enum SharesNewLinkCommand: Command {
  static let name = "shares new-link"
  static let example =
    "petrel shares new-link Share-0F3A --container iCloud.com.example.app --owner anna "
    + "--zone Notes"
  static let summary =
    "Replaces the link of a share, and prints the new one. The old one is unknown."
  static let operands = "SHARE"
  static let options = ShareOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let share = try arguments.word(ShareOptions.word)
    return try await SharesWork.post(
      "shares/new-link", try ShareOptions.members(arguments, share: share), arguments
    ) { $0["link"]?.string ?? "" }
  }
}
