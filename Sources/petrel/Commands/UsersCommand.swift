import CloudKitModel
import Foundation
import PetrelServer
import Storage

/// `petrel users add`
enum UsersAddCommand: Command {
  static let name = "users add"
  static let summary = "Adds a user and prints a web auth token for it."
  static let operands = "NAME"
  static let options: [Arguments.Option] = [
    .init("data", "DIRECTORY", "where the store lies (default .petrel)"),
    .init("expires-in", "TIME", "the token's lifetime, such as 12h or 30d (default 2w)"),
    .init(
      "password-from-stdin", nil, "reads a password for the sign-in page from standard input"),
    .init("email", "ADDRESS", "by which others may find the user"),
    .init("phone", "NUMBER", "by which others may find the user, such as +49301234567"),
    .init("given-name", "NAME", "what others who find the user are shown"),
    .init("middle-name", "NAME", "the same"),
    .init("family-name", "NAME", "the same"),
    .init("nickname", "NAME", "the same"),
    .init("name-prefix", "TITLE", "the same, such as Dr."),
    .init("name-suffix", "TITLE", "the same, such as Jr."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.count == 1, let name = arguments.positional.first, !name.isEmpty
    else { throw UsageError("needs one NAME") }
    let lifetime = try arguments.duration("expires-in") ?? Account.tokenLifetime
    let profile = try profile(arguments)
    let password = arguments.flag("password-from-stdin") ? try PasswordPrompt.read() : nil
    let store = try await ServeCommand.openStore(
      in: ServeCommand.dataDirectory(arguments), role: .tool)
    do {
      let user = try await store.addUser(named: name, profile: profile, at: .now)
      if let password {
        try await Account.setPassword(password, ofUserNamed: name, in: store, at: .now)
      }
      let token = try await Account.makeToken(for: user, in: store, lifetime: lifetime, at: .now)
      Output.line(token)
    } catch {
      await store.close()
      throw error
    }
    await store.close()
    return 0
  }

  private static func profile(_ arguments: Arguments) throws -> UserProfile {
    var names = PersonNameComponents()
    names.namePrefix = arguments.string("name-prefix")
    names.givenName = arguments.string("given-name")
    names.middleName = arguments.string("middle-name")
    names.familyName = arguments.string("family-name")
    names.nameSuffix = arguments.string("name-suffix")
    names.nickname = arguments.string("nickname")
    do {
      return try UserProfile(
        emailAddress: arguments.string("email"), phoneNumber: arguments.string("phone"),
        nameComponents: names)
    } catch {
      throw UsageError(error.reason)
    }
  }
}

/// `petrel users list`
enum UsersListCommand: Command {
  static let name = "users list"
  static let summary = "Lists the users with their record names."
  static let options: [Arguments.Option] = [
    .init("data", "DIRECTORY", "where the store lies (default .petrel)")
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let store = try await ServeCommand.openStore(
      in: ServeCommand.dataDirectory(arguments), role: .tool)
    let users = try await store.users()
    await store.close()
    let width = users.map(\.name.count).max() ?? 0
    for user in users { Output.line("\(user.name.padding(to: width))  \(user.userRecordName)") }
    return 0
  }
}
