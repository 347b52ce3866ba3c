import PetrelServer

/// `petrel users sign-out`
enum UsersSignOutCommand: Command {
  static let name = "users sign-out"
  static let summary = "Ends a user's sessions in web apps, or all that the user's tokens are for."
  static let operands = "NAME"
  static let options: [Arguments.Option] = [
    .init("everywhere", nil, "native clients and readers of the web courier too"),
    ServeCommand.dataOption,
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME")
    let isEverywhere = arguments.flag("everywhere")
    let count = try await ServeCommand.withStore(arguments) { store in
      try await Account.signOut(userNamed: name, everywhere: isEverywhere, in: store, at: .now)
    }
    Output.line("\(count) \(count == 1 ? "session" : "sessions") ended")
    return 0
  }
}
