import CommandInterface

/// The command `petrel keys add-admin-key`, which creates an admin key and prints it.
///
/// It calls `POST keys/add-admin-key` of the admin API.
enum KeysAddAdminKeyCommand: Command {
  static let name = "keys add-admin-key"
  static let example = "petrel keys add-admin-key --label laptop"
  static let summary = "Creates a key for the console and the admin API and prints it."
  static let options: [Arguments.Option] =
    [
      .init("label", "TEXT", "a label for the key, which 'petrel keys list' shows"),
      AdminOptions.json,
    ]
    + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else {
      throw UsageError("takes only options; name the key with --label")
    }
    let label = arguments.string("label") ?? ""
    let answer = try await AdminOptions.withAccess(arguments, makesStore: true) {
      try await $0.post("keys/add-admin-key", ["label": .string(label)])
    }
    KeysListCommand.show(answer, "key", arguments)
    return 0
  }
}
