import CloudKitModel
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding
import Settings
import StoreModel
import WebServices

/// Makes accounts, their passwords and their tokens, and ends their sessions.
struct AdminAccountsEndpoints: AdminEndpoints {
  let store: any AccountStore & SessionStore & SignInStore
  let accounts: AdminAccounts

  /// Bytes of a name at most.
  private static let nameLimit = 255
  /// A hundred years.
  static let lifetimes = 1...3_155_760_000

  private static let lifetime = AdminArgument(
    "lifetime", .integer(lifetimes), "the token's lifetime in seconds; two weeks unless told")
  private static let names: [AdminArgument] = [
    .init("givenName", .text, "what others who find the user are shown"),
    .init("middleName", .text, "the same"), .init("familyName", .text, "the same"),
    .init("nickname", .text, "the same"),
    .init("namePrefix", .text, "the same, such as Dr."),
    .init("nameSuffix", .text, "the same, such as Jr."),
  ]

  var endpoints: [AdminEndpoint] {
    [
      .post(
        "users/add",
        [
          .needed(.init("name", .text, "the account's name, which no other has")),
          .init("password", .secret, "for the sign-in page; none unless told"), Self.lifetime,
          .init("emailAddress", .text, "by which others may find the user"),
          .init("phoneNumber", .text, "by which others may find the user"),
        ] + Self.names, add
      )
      .described(
        "Makes an account with a web auth token, which is told this once",
        answers: .userWithToken),
      .post(
        "users/password",
        [.needed("user"), .needed(.init("password", .secret, "for the sign-in page"))], password
      )
      .described(
        "Gives a user another password and ends the sessions in web apps", answers: .user),
      .post("users/add-token", [.needed("user"), Self.lifetime], addToken)
        .described(
          "Makes another web auth token for native clients, which is told this once",
          answers: .userWithToken),
      .post("users/sign-out", [.needed("user"), "everywhere"], signOut)
        .described("Ends a user's sessions", answers: .object(["sessions": .count])),
    ]
  }

  private func add(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let name = try Self.checked("name", of: arguments) ?? ""
    guard !name.hasPrefix("_") else {
      throw arguments.mistake("name", "must not begin with '_', as user record names do")
    }
    let profile = try profile(arguments)
    let lifetime = try lifetime(arguments)
    // First, for it may be refused when many passwords are being made, and then nothing is kept.
    let hash = try await passwordHash(arguments)
    let user: User
    do {
      user = try await store.addUser(named: name, profile: profile, at: request.now)
    } catch let error as StoreError where error.code == .exists {
      throw ServiceError(.exists, error.reason)
    }
    if let hash {
      try await store.setPasswordHash(hash, ofUserNamed: user.name, at: request.now)
    }
    return try await answer(request, withTokenFor: user, lifetime: lifetime)
  }

  private func password(_ request: AdminRequest) async throws -> HTTPResponse {
    try Self.check(password: try request.arguments.required("password"), request.arguments)
    let user = try await request.user(in: store)
    guard let hash = try await passwordHash(request.arguments) else {
      throw request.arguments.mistake("password", "is missing")
    }
    try await store.setPasswordHash(hash, ofUserNamed: user.name, at: request.now)
    accounts.webAuthTokens?.forget(userRecordName: user.userRecordName)
    return request.object { user.write(to: &$0) }
  }

  private func addToken(_ request: AdminRequest) async throws -> HTTPResponse {
    let lifetime = try lifetime(request.arguments)
    return try await answer(
      request, withTokenFor: try await request.user(in: store), lifetime: lifetime)
  }

  private func signOut(_ request: AdminRequest) async throws -> HTTPResponse {
    let user = try await request.user(in: store)
    let count = try await store.endSessions(
      of: user.userRecordName, everywhere: try request.arguments.bool("everywhere") ?? false,
      at: request.now)
    accounts.webAuthTokens?.forget(userRecordName: user.userRecordName)
    return request.object { $0.member("sessions", count) }
  }

  private func answer(
    _ request: AdminRequest, withTokenFor user: User, lifetime: Double
  ) async throws -> HTTPResponse {
    let token = try await Account.makeToken(
      for: user, in: store, lifetime: lifetime, at: request.now)
    return request.object { writer in
      user.write(to: &writer)
      writer.member("token", token)
    }
  }

  private func lifetime(_ arguments: AdminArguments) throws(ServiceError) -> Double {
    try arguments.int("lifetime", in: Self.lifetimes).map(Double.init) ?? Account.tokenLifetime
  }

  private static func check(
    password: String, _ arguments: AdminArguments
  ) throws(ServiceError) {
    do throws(ConfigurationError) {
      try Account.checkPassword(password)
    } catch {
      throw arguments.mistake("password", "cannot be taken: \(error)")
    }
  }

  private func passwordHash(_ arguments: AdminArguments) async throws -> String? {
    guard let password = try arguments.text("password") else { return nil }
    try Self.check(password: password, arguments)
    return try await accounts.passwords.hash(password)
  }

  /// The name of an account or a part of a person's; nil where there is none.
  private static func checked(
    _ member: String, of arguments: AdminArguments
  ) throws(ServiceError) -> String? {
    guard let name = try arguments.text(member) else { return nil }
    guard name.utf8.count <= nameLimit else {
      throw arguments.mistake(
        member, "has \(name.utf8.count) bytes; \(nameLimit) at most are possible")
    }
    guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw arguments.mistake(member, "has a control character in it")
    }
    return name
  }

  private func profile(_ arguments: AdminArguments) throws(ServiceError) -> UserProfile {
    var names = PersonNameComponents()
    names.namePrefix = try Self.checked("namePrefix", of: arguments)
    names.givenName = try Self.checked("givenName", of: arguments)
    names.middleName = try Self.checked("middleName", of: arguments)
    names.familyName = try Self.checked("familyName", of: arguments)
    names.nameSuffix = try Self.checked("nameSuffix", of: arguments)
    names.nickname = try Self.checked("nickname", of: arguments)
    let email = try Self.checked("emailAddress", of: arguments)
    let phone = try Self.checked("phoneNumber", of: arguments)
    func made(
      _ member: String, _ email: String?, _ phone: String?
    ) throws(ServiceError) -> UserProfile {
      do throws(ModelError) {
        return try UserProfile(emailAddress: email, phoneNumber: phone, nameComponents: names)
      } catch {
        throw arguments.mistake(member, "cannot be taken: \(error.reason)")
      }
    }
    // By itself, so that the mistake can be told of the right one.
    _ = try made("emailAddress", email, nil)
    return try made("phoneNumber", email, phone)
  }
}
