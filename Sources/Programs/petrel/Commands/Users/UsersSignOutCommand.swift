import CommandInterface
import JSONCoding

/// The command `petrel users sign-out`, which ends the sessions of a user in web apps.
///
/// It calls `POST users/sign-out` of the admin API. With `--everywhere`, the command also ends the
/// sessions of native clients and of readers of the web courier.
enum UsersSignOutCommand: Command {
  static let name = "users sign-out"
  static let example = "petrel users sign-out anna --everywhere"
  static let summary =
    "Ends a user's sessions in web apps, or the sessions of all the user's tokens."
  static let operands = "NAME"
  static let options: [Arguments.Option] =
    [
      .init(
        "everywhere", nil,
        "also ends the sessions of native clients, and removes all devices, browsers and readers of the web courier"
      ),
      AdminOptions.json,
    ] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME")
    let isEverywhere = arguments.flag("everywhere")
    let answer = try await AdminOptions.withAccess(arguments) { access in
      try await access.post(
        "users/sign-out", ["user": .string(name), "everywhere": .bool(isEverywhere)])
    }
    if arguments.flag("json") {
      Output.json(answer)
    } else {
      let count = answer["sessions"]?.int ?? 0
      Output.line(count.counting("session") + " ended")
    }
    return 0
  }
}
