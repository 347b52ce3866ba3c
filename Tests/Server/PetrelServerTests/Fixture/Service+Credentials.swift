import CloudKitModel
import Foundation
import StoreModel

@testable import DatabaseAPI

extension Service {
  /// Registers an API token for the tests' container.
  func addAPIToken(
    _ name: String = "web", environment: ContainerEnvironment = .development,
    callback: APIToken.SignInCallback = .postMessage, origins: [String] = []
  ) async throws -> String {
    try await Registration.addAPIToken(
      named: name, container: Self.container, environment: environment, signInCallback: callback,
      origins: try origins.map { try WebOrigin(parsing: $0) }, to: store.credentials,
      at: clock.read())
  }

  /// Signs a user in to the tests' container, as a sign-in page does.
  func signIn(_ user: TestUser, staysSignedIn: Bool = false) async throws -> TestUser {
    guard let account = try await store.accounts.user(named: user.name) else { return user }
    var user = user
    user.token = try await Account.makeSessionToken(
      for: account, container: Self.container, environment: .development,
      staysSignedIn: staysSignedIn, in: store.accounts, at: clock.read())
    return user
  }

  /// Sends a request with what a web app brings.
  func send(
    _ operation: String, _ body: String = "{}", method: String = "POST", apiToken: String?,
    as user: TestUser? = nil, origin: String? = nil
  ) async throws -> Answer {
    try await client.send(
      method, target(operation, as: user) + (apiToken.map { "&ckAPIToken=\($0)" } ?? ""),
      headers: origin.map { "Origin: \($0)\r\n" } ?? "", body: Data(body.utf8))
  }
}
