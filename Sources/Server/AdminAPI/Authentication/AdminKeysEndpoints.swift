import CloudKitModel
import Cryptography
import DatabaseAPI
import Settings
import Storage
import StoreModel
import WebServices

/// The endpoints `keys/…`: list, creation and revocation of API tokens, server-to-server keys and
/// admin keys.
///
/// The body of `keys/add-api-token`, for pages of one origin:
///
///     { "container": "iCloud.com.example.app", "environment": "production", "name": "web app",
///       "origins": ["https://app.example.com"] }
///
/// The answer is `{ "token": "…" }`. The store keeps only a hash of the token, so no later answer
/// can contain the token.
struct AdminKeysEndpoints: AdminEndpoints {
  let adminAccess: AdminAccessService
  let credentials: CredentialService

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "keys", [.container.described(as: "only those of this container")],
      "API tokens, server-to-server keys and admin keys",
      answers: .list("keys", of: ListedKey.shape), Self.list),
    .post(
      "keys/add-api-token", [.container.needed, .environment, .name.needed, .origins, .redirect],
      "Creates an API token; only this answer has it", answers: .member("token"), Self.addAPIToken),
    .post(
      "keys/add-server-key", [.container.needed, .environment, .name.needed, .publicKey.needed],
      "Registers a server-to-server key", answers: .member("keyID"), Self.addServerKey),
    .post(
      "keys/add-admin-key", [.label], "Creates an admin key; only this answer has it",
      answers: .member("key"), Self.addAdminKey),
    .post(
      "keys/revoke", [.identifier.needed], "Revokes a key or token",
      answers: .member("revoked"), Self.revoke),
  ]

  /// Returns the admin keys, then the API tokens, then the server-to-server keys, revoked ones
  /// included. With a container, returns only its tokens and keys.
  private func list(_ request: AdminRequest) async throws -> [ListedKey] {
    let credentials = try await credentials.programCredentials()
    let keys =
      try await adminAccess.adminKeys().map {
        ListedKey.admin($0, isCurrent: $0.hash == request.identity.key?.hash)
      } + credentials.apiTokens.map { .apiToken($0) } + credentials.serverKeys.map { .server($0) }
    guard let container = request.arguments.text(.container) else { return keys }
    return keys.filter { $0.place?.container == container }
  }

  /// Creates an API token and returns its text. Without the argument `redirect`, the sign-in page
  /// of the token posts a message to the web app's page instead of redirecting to a URL.
  private func addAPIToken(_ request: AdminRequest) async throws -> String {
    let arguments = request.arguments
    let place = try arguments.place()
    return try await Registration.addAPIToken(
      named: try arguments.required(.name), container: place.container,
      environment: place.environment,
      signInCallback: arguments.text(.redirect).map { .redirect(url: $0) } ?? .postMessage,
      origins: try arguments.texts(.origins).map { try WebOrigin(parsing: $0) }, to: credentials,
      at: request.now)
  }

  /// Registers a public key and returns its key ID. Throws `EXISTS` if it is registered already.
  private func addServerKey(_ request: AdminRequest) async throws -> String {
    let arguments = request.arguments
    let place = try arguments.place()
    let publicKey: ES256PublicKey
    let pem = try arguments.required(.publicKey)
    do throws(CryptographyError) {
      publicKey = try ES256PublicKey(pem: pem)
    } catch {
      throw arguments.mistake(.publicKey, "is not a P-256 key in PEM form: \(error)")
    }
    do {
      return try await Registration.addServerKey(
        named: try arguments.required(.name), container: place.container,
        environment: place.environment,
        publicKey: publicKey, to: credentials, at: request.now
      ).keyID
    } catch let error as StoreError where error.code == .exists {
      throw ServiceError(.exists, error.reason)
    }
  }

  private func addAdminKey(_ request: AdminRequest) async throws -> String {
    do {
      return try await AdminKeys.add(
        label: request.arguments.text(.label) ?? "", to: adminAccess, at: request.now)
    } catch let error as ConfigurationError {
      throw request.arguments.mistake(.label, "\(error)")
    }
  }

  /// Revokes a key or token. An unknown, ambiguous or already revoked identifier is `NOT_FOUND`.
  private func revoke(_ request: AdminRequest) async throws -> String {
    do {
      return try await Registration.revoke(
        try request.arguments.required(.identifier), of: credentials, and: adminAccess,
        at: request.now)
    } catch let error as ConfigurationError {
      throw ServiceError(.notFound, "\(error)")
    }
  }
}
