import PetrelServer

/// `petrel users password`
enum UsersPasswordCommand: Command {
  static let name = "users password"
  static let example = "petrel users password anna"
  static let summary =
    "Gives a user a password, read from standard input, and ends the user's sessions in web apps."
  static let operands = "NAME"
  static let options: [Arguments.Option] = [ServeCommand.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME")
    let password = try PasswordPrompt.read()
    try await ServeCommand.withStore(arguments) { store in
      try await Account.setPassword(password, ofUserNamed: name, in: store, at: .now)
    }
    return 0
  }
}
