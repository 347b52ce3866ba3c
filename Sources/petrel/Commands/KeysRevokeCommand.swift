import PetrelServer

/// `petrel keys revoke`
enum KeysRevokeCommand: Command {
  static let name = "keys revoke"
  static let summary = "Refuses an API token, a server-to-server key or an admin key from now on."
  static let operands = "IDENTIFIER"
  static let options: [Arguments.Option] = [ServeCommand.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let word = try arguments.word(
      "IDENTIFIER as 'petrel keys list' shows it, or the text of an API token or an admin key")
    let line = try await ServeCommand.withStore(arguments) { store in
      try await Registration.revoke(word, in: store, at: .now)
    }
    Output.line(line)
    return 0
  }
}
