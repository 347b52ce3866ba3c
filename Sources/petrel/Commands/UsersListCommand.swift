import Storage

/// `petrel users list`
enum UsersListCommand: Command {
  static let name = "users list"
  static let summary = "Lists the users with their record names."
  static let options: [Arguments.Option] = [
    ServeCommand.dataOption
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let users = try await ServeCommand.withStore(arguments) { try await $0.users() }
    let width = users.map(\.name.count).max() ?? 0
    for user in users { Output.line("\(user.name.padding(to: width))  \(user.userRecordName)") }
    return 0
  }
}
