import CommandInterface

/// The command `petrel keys revoke`, which invalidates an API token, a server-to-server key or an
/// admin key.
///
/// It calls `POST keys/revoke` of the admin API.
enum KeysRevokeCommand: Command {
  static let name = "keys revoke"
  static let example = "petrel keys revoke 0123456789abcdef"
  static let summary = "Revokes an API token, a server-to-server key or an admin key."
  static let operands = "IDENTIFIER"
  static let options: [Arguments.Option] = [AdminOptions.json] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let word = try arguments.word(
      "IDENTIFIER as 'petrel keys list' shows it, or the text of an API token or an admin key")
    let answer = try await AdminOptions.withAccess(arguments) {
      try await $0.post("keys/revoke", ["identifier": .string(word)])
    }
    KeysListCommand.show(answer, "revoked", arguments)
    return 0
  }
}
