import PetrelServer

/// `petrel users add-token`
enum UsersAddTokenCommand: Command {
  static let name = "users add-token"
  static let example = "petrel users add-token anna --expires-in 30d"
  static let summary = "Prints another web auth token for a user's native clients."
  static let operands = "NAME"
  static let options: [Arguments.Option] = [
    UsersAddCommand.lifetimeOption, AdminOptions.json, ServeCommand.dataOption,
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME")
    let lifetime = try arguments.duration("expires-in") ?? Account.tokenLifetime
    let token = try await ServeCommand.withStore(arguments) { store in
      try await Account.makeToken(
        for: try await Account.user(named: name, in: store), in: store, lifetime: lifetime,
        at: .now)
    }
    UsersAddCommand.tell(token: token, of: name, arguments)
    return 0
  }
}
