import CloudKitModel
import CommandInterface
import JSONCoding
import StoreModel

/// The command `petrel users add`, which adds a user and prints a web auth token. With this token,
/// an app acts for the user.
///
/// It calls `POST users/add` of the admin API.
enum UsersAddCommand: Command {
  static let name = "users add"
  static let example = "petrel users add anna --email anna@example.com"
  static let summary = "Adds a user and prints a web auth token for it."
  static let operands = "NAME"
  static let options: [Arguments.Option] =
    [
      lifetimeOption,
      .init(
        "password-from-stdin", nil, "reads a password for the sign-in page from standard input"),
      .init("email", "ADDRESS", "the e-mail address by which others can find the user"),
      .init(
        "phone", "NUMBER",
        "the phone number by which others can find the user, such as +49301234567"),
      .init("given-name", "NAME", "the given name, which others who find the user see"),
      .init("middle-name", "NAME", "the middle name, likewise"),
      .init("family-name", "NAME", "the family name, likewise"),
      .init("nickname", "NAME", "the nickname, likewise"),
      .init("name-prefix", "TITLE", "the title before the name, such as Dr."),
      .init("name-suffix", "TITLE", "the title after the name, such as Jr."),
      AdminOptions.json,
    ] + AdminOptions.all

  /// The option for the lifetime of a token.
  static let lifetimeOption = Arguments.Option(
    "expires-in", "TIME", "the token's lifetime, such as 12h or 30d (default 2w)")

  /// The member of the request that each option sets, by the option's name.
  private static let members = [
    "email": "emailAddress", "phone": "phoneNumber", "given-name": "givenName",
    "middle-name": "middleName", "family-name": "familyName", "nickname": "nickname",
    "name-prefix": "namePrefix", "name-suffix": "nameSuffix",
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    var body: [String: JSONValue] = ["name": .string(try arguments.word("NAME"))]
    body["lifetime"] = try lifetime(arguments)
    try checkPlaces(arguments)
    for (option, member) in members {
      if let text = arguments.string(option) { body[member] = .string(text) }
    }
    if arguments.flag("password-from-stdin") {
      body["password"] = .string(try PasswordPrompt.read())
    }
    let user = try await AdminOptions.withAccess(arguments, makesStore: true) { [body] in
      try await $0.post("users/add", body)
    }
    reportToken(of: user, arguments)
    return 0
  }

  /// Prints the new web auth token of a user, or the whole answer with `--json`.
  static func reportToken(of user: JSONValue, _ arguments: Arguments) {
    if arguments.flag("json") {
      Output.json(user)
    } else {
      Output.line(user["token"]?.string ?? "")
    }
  }

  /// Returns the value of `--expires-in` in seconds, rounded up; `nil` without the option.
  ///
  /// - Throws: `UsageError` if the time is invalid or too long.
  static func lifetime(_ arguments: Arguments) throws -> JSONValue? {
    guard let lifetime = try arguments.duration("expires-in") else { return nil }
    guard let seconds = Int64(exactly: lifetime.rounded(.up)) else {
      throw UsageError("--expires-in is too long")
    }
    return .int(seconds)
  }

  /// Checks the e-mail address and the telephone number before the request.
  ///
  /// - Throws: `UsageError` if one of them is invalid.
  private static func checkPlaces(_ arguments: Arguments) throws {
    do {
      _ = try UserProfile(
        emailAddress: arguments.string("email"), phoneNumber: arguments.string("phone"),
        nameComponents: nil)
    } catch {
      throw UsageError(error.reason)
    }
  }
}
