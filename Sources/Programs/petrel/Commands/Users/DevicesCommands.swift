import CommandInterface
import JSONCoding
import PushChannels

/// The command `petrel devices list`, which prints the devices of all users or of one user.
///
/// It calls `GET devices` of the admin API.
enum DevicesListCommand: Command {
  static let name = "devices list"
  static let example = "petrel devices list --user anna"
  static let summary =
    "Lists devices: APNs tokens, browsers, webhooks and readers of the web courier."
  static let options: [Arguments.Option] =
    [
      .init("user", "USER", "only this user's: a name or a user record name"),
      Listing.limitOption, AdminOptions.json,
    ] + AdminOptions.all

  /// The columns of the table.
  static let columns: [Table.Column] = [
    .init("KIND", "kind"), .init("TOKEN", "token", width: 64), .init("CONTAINER", "container"),
    .init("ENVIRONMENT", "environment"), .init("APP", "bundleID"),
    .init("USER") { $0["userName"]?.string ?? $0["user"]?.string ?? "" },
    .init("REGISTERED") { $0["registered"]?.timeText ?? "" },
    .init("REFUSED") { $0["refused"]?.timeText ?? "" },
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    try await AdminOptions.withAccess(arguments) { access in
      try await Listing(
        "devices", of: "devices", ["user": arguments.string("user")], by: access,
        emptiness: "there are no devices", columns
      ).show(arguments)
    }
    return 0
  }
}

/// The command `petrel devices remove`, which removes a device and the deliveries that wait for it.
///
/// The command calls `POST devices/delete` of the admin API. Without `--kind`, it tries each kind
/// of device until there is a device with the token.
enum DevicesRemoveCommand: Command {
  static let name = "devices remove"
  static let example = "petrel devices remove 9a3c0d"
  static let summary = "Removes a device and gives up its waiting pushes."
  static let operands = "TOKEN"
  static let options: [Arguments.Option] =
    [
      .init(
        "kind", "KIND", kinds.joined(separator: ", ") + " (default whichever has the token)",
        words: kinds),
      AdminOptions.json,
    ] + AdminOptions.all

  /// The kinds of devices of all push channels.
  private static let kinds = PushChannelRegistry.all.map { $0.kind.rawValue }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let token = try arguments.word("TOKEN, as 'petrel devices list --json' shows it")
    if let kind = arguments.string("kind"), !kinds.contains(kind) {
      throw UsageError("--kind must be one of \(kinds.joined(separator: ", ")), not '\(kind)'")
    }
    let candidates = arguments.string("kind").map { [$0] } ?? kinds
    let kind = try await AdminOptions.withAccess(arguments) { access in
      var last: AdminFailure?
      for kind in candidates {
        do {
          _ = try await access.post(
            "devices/delete", ["kind": .string(kind), "token": .string(token)])
          return kind
        } catch let failure as AdminFailure where failure.code == "NOT_FOUND" {
          last = failure
        }
      }
      throw last ?? AdminFailure("the device does not exist")
    }
    if arguments.flag("json") {
      Output.json(["deleted": .string(token), "kind": .string(kind)])
    } else {
      Output.line("removed the \(kind) device \(token)".printable)
    }
    return 0
  }
}
