import CloudKitModel
import Foundation
import PetrelServer
import Storage

/// `petrel users add`
enum UsersAddCommand: Command {
  static let name = "users add"
  static let example = "petrel users add anna --email anna@example.com"
  static let summary = "Adds a user and prints a web auth token for it."
  static let operands = "NAME"
  static let options: [Arguments.Option] = [
    AdminOptions.json, ServeCommand.dataOption,
    lifetimeOption,
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

  static let lifetimeOption = Arguments.Option(
    "expires-in", "TIME", "the token's lifetime, such as 12h or 30d (default 2w)")

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME")
    let lifetime = try arguments.duration("expires-in") ?? Account.tokenLifetime
    let profile = try profile(arguments)
    let password = arguments.flag("password-from-stdin") ? try PasswordPrompt.read() : nil
    let token = try await ServeCommand.withStore(arguments) { store in
      let user = try await store.addUser(named: name, profile: profile, at: .now)
      if let password {
        try await Account.setPassword(password, ofUserNamed: name, in: store, at: .now)
      }
      return try await Account.makeToken(for: user, in: store, lifetime: lifetime, at: .now)
    }
    tell(token: token, of: name, arguments)
    return 0
  }

  /// Prints a web auth token.
  static func tell(token: String, of name: String, _ arguments: Arguments) {
    if arguments.flag("json") {
      Output.json(["name": .string(name), "token": .string(token)])
    } else {
      Output.line(token)
    }
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
