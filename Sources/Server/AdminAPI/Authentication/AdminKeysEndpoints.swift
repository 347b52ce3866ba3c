import CloudKitModel
import Cryptography
import DatabaseAPI
import HTTPService
import JSONCoding
import Settings
import StoreModel
import WebServices

/// API tokens, server-to-server keys and admin keys.
struct AdminKeysEndpoints: AdminEndpoints {
  let adminAccess: any AdminKeyStore
  let credentials: any CredentialStore

  var endpoints: [AdminEndpoint] {
    [
      .get("keys", [], list)
        .described(
          "API tokens, server-to-server keys and admin keys",
          answers: .object(["keys": .list(.key)])),
      .post(
        "keys/add-api-token",
        [.needed("container"), "environment", .needed("name"), "origins", "redirect"], addAPIToken
      )
      .described(
        "Makes an API token, which is told this once", answers: .object(["token": .text])),
      .post(
        "keys/add-server-key",
        [.needed("container"), "environment", .needed("name"), .needed("publicKey")], addServerKey
      )
      .described("Registers a server-to-server key", answers: .object(["keyID": .text])),
      .post("keys/add-admin-key", ["label"], addAdminKey)
        .described("Makes an admin key, which is told this once", answers: .object(["key": .text])),
      .post("keys/revoke", [.needed("identifier")], revoke)
        .described(
          "Refuses a key or token from now on", answers: .object(["revoked": .text])),
    ]
  }

  private func list(_ request: AdminRequest) async throws -> HTTPResponse {
    let credentials = try await credentials.programCredentials()
    let adminKeys = try await adminAccess.adminKeys()
    return request.object { writer in
      writer.key("keys")
      writer.array { writer in
        for key in adminKeys {
          writer.object { writer in
            Self.write(
              "admin", key.identifier, key.label, key.created, key.revoked, to: &writer)
            writer.member("isCurrent", key.hash == request.identity.key?.hash)
          }
        }
        for token in credentials.apiTokens {
          writer.object { writer in
            Self.write(
              "apiToken", token.identifier, token.name, token.created, token.revoked, to: &writer)
            writer.member("container", token.container)
            writer.member("environment", token.environment.rawValue)
            writer.member("origins", ifPresent: token.allowedOrigins.sorted())
            if case .redirect(let url) = token.signInCallback { writer.member("redirect", url) }
          }
        }
        for key in credentials.serverKeys {
          writer.object { writer in
            Self.write("server", key.keyID, key.name, key.created, key.revoked, to: &writer)
            writer.member("container", key.container)
            writer.member("environment", key.environment.rawValue)
            writer.member("user", key.userRecordName)
          }
        }
      }
    }
  }

  private static func write(
    _ kind: String, _ identifier: String, _ name: String, _ created: Timestamp,
    _ revoked: Timestamp?, to writer: inout JSONWriter
  ) {
    writer.member("kind", kind)
    writer.member("identifier", identifier)
    writer.member("name", name)
    writer.member("created", created)
    writer.member("revoked", ifPresent: revoked)
  }

  private func addAPIToken(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (container, environment) = try arguments.place()
    let texts = arguments.value("origins") ?? []
    guard let origins = texts.array?.map({ $0.string ?? "" }) else {
      throw arguments.mistake("origins", "must be a list of origins")
    }
    let redirect = try arguments.text("redirect")
    do throws(ConfigurationError) {
      if let redirect { try Registration.check(redirect: redirect) }
    } catch {
      throw arguments.mistake("redirect", "\(error)")
    }
    let token: String
    do {
      token = try await Registration.addAPIToken(
        named: try arguments.required("name"), container: container, environment: environment,
        signInCallback: redirect.map { .redirect(url: $0) } ?? .postMessage,
        origins: try origins.map { try WebOrigin(parsing: $0) }, to: credentials, at: request.now)
    } catch let error as ConfigurationError {
      throw arguments.mistake("origins", "\(error)")
    }
    return request.object { $0.member("token", token) }
  }

  private func addServerKey(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (container, environment) = try arguments.place()
    let publicKey: ES256PublicKey
    let pem = try arguments.required("publicKey")
    do throws(CryptographyError) {
      publicKey = try ES256PublicKey(pem: pem)
    } catch {
      throw arguments.mistake("publicKey", "is no P-256 key in PEM form: \(error)")
    }
    do {
      let key = try await Registration.addServerKey(
        named: try arguments.required("name"), container: container, environment: environment,
        publicKey: publicKey, to: credentials, at: request.now)
      return request.object { $0.member("keyID", key.keyID) }
    } catch let error as StoreError where error.code == .exists {
      throw ServiceError(.exists, error.reason)
    }
  }

  private func addAdminKey(_ request: AdminRequest) async throws -> HTTPResponse {
    do {
      let key = try await AdminKeys.add(
        label: try request.arguments.text("label") ?? "", to: adminAccess, at: request.now)
      return request.object { $0.member("key", key) }
    } catch let error as ConfigurationError {
      throw request.arguments.mistake("label", "\(error)")
    }
  }

  private func revoke(_ request: AdminRequest) async throws -> HTTPResponse {
    do {
      let line = try await Registration.revoke(
        try request.arguments.required("identifier"), of: credentials, and: adminAccess,
        at: request.now)
      return request.object { $0.member("revoked", line) }
    } catch let error as ConfigurationError {
      throw ServiceError(.notFound, "\(error)")
    }
  }
}
