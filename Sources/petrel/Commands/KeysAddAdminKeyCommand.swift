import PetrelServer

/// `petrel keys add-admin-key`
enum KeysAddAdminKeyCommand: Command {
  static let name = "keys add-admin-key"
  static let summary = "Makes a key for the console and the admin API and prints it."
  static let options: [Arguments.Option] = [
    .init("label", "TEXT", "by which you know the key again"), ServeCommand.dataOption,
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else {
      throw UsageError("takes no words; name the key with --label")
    }
    let label = arguments.string("label") ?? ""
    let key = try await ServeCommand.withStore(arguments) { store in
      try await AdminKeys.add(label: label, to: store, at: .now)
    }
    Output.line(key)
    return 0
  }
}
