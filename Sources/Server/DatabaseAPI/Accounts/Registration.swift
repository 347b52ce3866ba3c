import CloudKitModel
import Cryptography
import Foundation
import Settings
import StoreModel

/// Makes API tokens and server-to-server keys known to a store.
public enum Registration {
  /// Makes an API token and keeps its hash.
  ///
  /// - Parameter origins: where pages that use the token may come from; from anywhere when empty.
  /// - Returns: the token's text, 64 hexadecimal digits, which is kept nowhere.
  public static func addAPIToken(
    named name: String, container: String, environment: ContainerEnvironment,
    signInCallback: APIToken.SignInCallback = .postMessage, origins: [WebOrigin] = [],
    to store: any CredentialStore, at now: Timestamp
  ) async throws -> String {
    let text = SecureRandom.bytes(count: 32).hexadecimal
    try await store.addAPIToken(
      APIToken(
        hash: Authenticator.hash(of: text), name: name, container: container,
        environment: environment, signInCallback: signInCallback,
        allowedOrigins: Set(origins.map(\.description)), created: now))
    return text
  }

  /// Checks a URL that browsers are to be sent to with a web auth token in its query.
  ///
  /// - Throws: ``ConfigurationError`` saying what such a URL must be.
  public static func check(redirect url: String) throws(ConfigurationError) {
    // It is sent as it is, in the header field `Location`.
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let parts = URLComponents(string: url), parts.fragment == nil,
      SignInRequest.origin(of: url) != nil,
      !["http", "https"].contains(parts.scheme?.lowercased()) || parts.host?.isEmpty == false
    else {
      throw ConfigurationError(
        "must be a URL without a fragment, such as https://app.example.com/signed-in, not "
          + url.debugDescription)
    }
  }

  /// Registers the public half of a server-to-server key.
  ///
  /// - Throws: ``StoreError/Code/exists`` when the container's environment has it already.
  public static func addServerKey(
    named name: String, container: String, environment: ContainerEnvironment,
    publicKey: ES256PublicKey, to store: any CredentialStore, at now: Timestamp
  ) async throws -> ServerKey {
    let key = ServerKey(
      keyID: SecureRandom.bytes(count: 32).hexadecimal, name: name, container: container,
      environment: environment, publicKey: try publicKey.pem,
      userRecordName: "_" + SecureRandom.bytes(count: 16).hexadecimal, created: now)
    try await store.addServerKey(key)
    return key
  }
}
