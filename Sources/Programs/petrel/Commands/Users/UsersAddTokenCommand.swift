import CommandInterface
import JSONCoding

/// The command `petrel users add-token`, which prints another web auth token of a user.
///
/// It calls `POST users/add-token` of the admin API.
enum UsersAddTokenCommand: Command {
  static let name = "users add-token"
  static let example = "petrel users add-token anna --expires-in 30d"
  static let summary = "Prints another web auth token for a user's native clients."
  static let operands = "NAME"
  static let options: [Arguments.Option] =
    [UsersAddCommand.lifetimeOption, AdminOptions.json] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    var body: [String: JSONValue] = ["user": .string(try arguments.word("NAME"))]
    body["lifetime"] = try UsersAddCommand.lifetime(arguments)
    let user = try await AdminOptions.withAccess(arguments) { [body] in
      try await $0.post("users/add-token", body)
    }
    UsersAddCommand.reportToken(of: user, arguments)
    return 0
  }
}
