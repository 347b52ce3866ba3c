import PetrelServer

/// `petrel users password`
enum UsersPasswordCommand: Command {
  static let name = "users password"
  static let summary = "Gives a user a password, which is read from standard input."
  static let operands = "NAME"
  static let options: [Arguments.Option] = [
    .init("data", "DIRECTORY", "where the store lies (default .petrel)")
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.count == 1, let name = arguments.positional.first, !name.isEmpty
    else { throw UsageError("needs one NAME") }
    let password = try PasswordPrompt.read()
    let store = try await ServeCommand.openStore(
      in: ServeCommand.dataDirectory(arguments), role: .tool)
    do {
      try await Account.setPassword(password, ofUserNamed: name, in: store, at: .now)
    } catch {
      await store.close()
      throw error
    }
    await store.close()
    return 0
  }
}
