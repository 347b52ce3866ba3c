import CommandInterface

/// The command `petrel users password`, which sets a user's password for the sign-in page and ends
/// the user's sessions in web apps.
///
/// It calls `POST users/password` of the admin API.
enum UsersPasswordCommand: Command {
  static let name = "users password"
  static let example = "petrel users password anna"
  static let summary =
    "Gives a user a password, read from standard input, and ends the user's sessions in web apps."
  static let operands = "NAME"
  static let options: [Arguments.Option] = [AdminOptions.json] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME")
    let password = try PasswordPrompt.read()
    let user = try await AdminOptions.withAccess(arguments) {
      try await $0.post(
        "users/password", ["user": .string(name), "password": .string(password)])
    }
    if arguments.flag("json") { Output.json(user) }
    return 0
  }
}
