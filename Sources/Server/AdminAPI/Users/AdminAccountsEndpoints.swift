import CloudKitModel
import DatabaseAPI
import Foundation
import Settings
import Storage
import StoreModel
import WebServices

/// The endpoints that create accounts, passwords and web auth tokens, and that end sessions.
///
/// The creation of an account whose token is valid for one day:
///
///     POST users/add
///     { "name": "alice", "emailAddress": "alice@example.com", "lifetime": 86400 }
///
/// The answer contains the account and its web auth token, which no later answer contains. Without
/// the argument `password`, the account has no password for the sign-in page.
struct AdminAccountsEndpoints: AdminEndpoints {
  let store: AccountService
  let accounts: AdminAccounts

  /// The maximum length of a name, an email address or a phone number, in bytes of UTF-8.
  private static let nameLimit = 255
  /// The permitted lifetimes of a token in seconds; the upper limit is 100 years of 365.25 days.
  static let lifetimes = 1...3_155_760_000

  private static let lifetime = AdminArgument(
    "lifetime", .seconds(lifetimes), "the token's lifetime (default two weeks)", "TIME",
    option: "expires-in")
  private static let name = AdminArgument(
    "name", .text, "the account's name, which must be unique", "NAME"
  ) { name in
    if let fault = nameFault(name) { return fault }
    if name.hasPrefix("_") { return "must not begin with '_', as user record names do" }
    return name.trimmingCharacters(in: .whitespacesAndNewlines) == name
      ? nil : "must not begin or end with a space"
  }
  private static let password = AdminArgument(
    "password", .secret, "a password for the sign-in page",
    rule: AdminArgument.refusal("is not accepted: ") { text throws(ConfigurationError) in
      try Account.checkPassword(text)
    })
  private static let email = AdminArgument(
    "emailAddress", .text, "the e-mail address by which others can find the user", "ADDRESS",
    option: "email", rule: { nameFault($0) ?? refusal(email: $0, phone: nil) })
  private static let phone = AdminArgument(
    "phoneNumber", .text,
    "the phone number by which others can find the user, such as +49301234567", "NUMBER",
    option: "phone", rule: { nameFault($0) ?? refusal(email: nil, phone: $0) })
  /// The arguments for the parts of a person's name, with the part that each sets.
  private static let nameParts:
    [(AdminArgument, WritableKeyPath<PersonNameComponents, String?> & Sendable)] = [
      (part("givenName", "the given name, which others who find the user see"), \.givenName),
      (part("middleName", "the middle name, likewise"), \.middleName),
      (part("familyName", "the family name, likewise"), \.familyName),
      (part("nickname", "the nickname, likewise"), \.nickname),
      (part("namePrefix", "the title before the name, such as Dr.", "TITLE"), \.namePrefix),
      (part("nameSuffix", "the title after the name, such as Jr.", "TITLE"), \.nameSuffix),
    ]

  private static func part(
    _ name: String, _ summary: String, _ placeholder: String = "NAME"
  ) -> AdminArgument {
    AdminArgument(name, .text, summary, placeholder, rule: nameFault)
  }

  static let endpoints: [AdminHandler<Self>] = [
    .post(
      "users/add",
      [Self.name.needed, Self.password, Self.lifetime, Self.email, Self.phone]
        + Self.nameParts.map(\.0),
      "Creates an account with a web auth token, which only this answer has",
      answers: User.shapeWithToken, Self.add),
    .post(
      "users/password", [.user.needed, Self.password.needed],
      "Changes a user's password and ends the sessions in web apps", answers: User.shape,
      Self.password),
    .post(
      "users/add-token", [.user.needed, Self.lifetime],
      "Creates another web auth token for native clients, which only this answer has",
      answers: User.shapeWithToken, Self.addToken),
    .post(
      "users/sign-out", [.user.needed, .everywhere], "Ends a user's sessions",
      answers: AnswerShape<Int> { $0.member("sessions", as: .count) { $0 } }, Self.signOut),
  ]

  /// Creates an account with a web auth token.
  ///
  /// - Throws: `BAD_REQUEST` for an invalid argument. `EXISTS` if another account has the name, the
  ///   email address or the phone number.
  private func add(_ request: AdminRequest) async throws -> (user: User, token: String) {
    let arguments = request.arguments
    let name = try arguments.required(Self.name)
    let profile = try profile(arguments)
    let lifetime = Self.lifetime(arguments)
    // The password is hashed before the account is saved. If the hasher refuses because of too much
    // load, nothing has been saved.
    var hash: String?
    if let password = arguments.text(Self.password) {
      hash = try await accounts.passwords.hash(password)
    }
    let user: User
    do {
      user = try await store.addUser(named: name, profile: profile, at: request.now)
    } catch let error as StoreError where error.code == .exists {
      throw ServiceError(.exists, error.reason)
    }
    if let hash {
      try await store.setPasswordHash(hash, ofUserNamed: user.name, at: request.now)
    }
    return try await withToken(user, lifetime: lifetime, at: request.now)
  }

  /// Sets a password and ends the user's sessions in web apps. The method also removes the user
  /// from the cache of tokens.
  private func password(_ request: AdminRequest) async throws -> User {
    let password = try request.arguments.required(Self.password)
    let user = try await request.user(in: store)
    let hash = try await accounts.passwords.hash(password)
    try await store.setPasswordHash(hash, ofUserNamed: user.name, at: request.now)
    accounts.webAuthTokens?.forget(userRecordName: user.userRecordName)
    return user
  }

  private func addToken(
    _ request: AdminRequest
  ) async throws -> (user: User, token: String) {
    let lifetime = Self.lifetime(request.arguments)
    return try await withToken(
      try await request.user(in: store), lifetime: lifetime, at: request.now)
  }

  /// Ends a user's sessions in web apps and returns the number of ended sessions. With
  /// `everywhere`, the method also removes the tokens of native clients, and all of the user's devices,
  /// browsers and readers of the web courier. Of these, only the tokens of native clients count.
  private func signOut(_ request: AdminRequest) async throws -> Int {
    let user = try await request.user(in: store)
    let count = try await store.endSessions(
      of: user.userRecordName, everywhere: request.arguments.bool(.everywhere) ?? false,
      at: request.now)
    accounts.webAuthTokens?.forget(userRecordName: user.userRecordName)
    return count
  }

  private func withToken(
    _ user: User, lifetime: Double, at now: Timestamp
  ) async throws -> (user: User, token: String) {
    (user, try await Account.makeToken(for: user, in: store, lifetime: lifetime, at: now))
  }

  private static func lifetime(_ arguments: AdminArguments) -> Double {
    arguments.int(lifetime).map(Double.init) ?? Account.tokenLifetime
  }

  private static func nameFault(_ name: String) -> String? {
    if name.utf8.count > nameLimit {
      return "has \(name.utf8.count) bytes; the limit is \(nameLimit)"
    }
    return name.unicodeScalars.contains(where: \.isControl) ? "contains a control character" : nil
  }

  /// Returns the profile that the arguments describe.
  ///
  /// - Throws: `BAD_REQUEST` for an invalid part of the name.
  private func profile(_ arguments: AdminArguments) throws(ServiceError) -> UserProfile {
    var names = PersonNameComponents()
    for (argument, part) in Self.nameParts {
      names[keyPath: part] = arguments.text(argument)
    }
    do throws(ModelError) {
      return try UserProfile(
        emailAddress: arguments.text(Self.email), phoneNumber: arguments.text(Self.phone),
        nameComponents: names)
    } catch {
      throw ServiceError(.badRequest, error.reason)
    }
  }

  /// Returns why no profile can have the email address and the phone number; nil if one can.
  private static func refusal(email: String?, phone: String?) -> String? {
    do throws(ModelError) {
      _ = try UserProfile(emailAddress: email, phoneNumber: phone, nameComponents: nil)
      return nil
    } catch {
      return "is not accepted: \(error.reason)"
    }
  }
}
