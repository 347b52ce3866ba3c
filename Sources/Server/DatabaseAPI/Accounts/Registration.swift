import CloudKitModel
import Cryptography
import Foundation
import Settings
import Storage
import StoreModel

/// The registration of API tokens and server-to-server keys in a store, for the commands.
public enum Registration {
  /// Creates an API token. The store keeps only its hash.
  ///
  /// - Parameters:
  ///   - signInCallback: the way in which the sign-in page gives a web auth token to the app.
  ///   - origins: the origins of the pages that may use the token; every origin if it is empty.
  /// - Returns: the token's text, 64 hexadecimal digits, which is stored nowhere.
  public static func addAPIToken(
    named name: String, container: String, environment: ContainerEnvironment,
    signInCallback: APIToken.SignInCallback = .postMessage, origins: [WebOrigin] = [],
    to store: CredentialService, at now: Timestamp
  ) async throws -> String {
    let text = SecureRandom.bytes(count: 32).hexadecimal
    try await store.addAPIToken(
      APIToken(
        hash: Authenticator.hash(of: text), name: name, container: container,
        environment: environment, signInCallback: signInCallback,
        allowedOrigins: Set(origins.map(\.description)), created: now))
    return text
  }

  /// Checks a URL to which the sign-in page redirects browsers, with a web auth token in the query.
  ///
  /// - Throws: `ConfigurationError` if the text is not an absolute URL of visible ASCII without a
  ///   fragment, or if it has the scheme `http` or `https` and no host.
  public static func check(redirect url: String) throws(ConfigurationError) {
    // The server sends the URL unchanged in the header field `Location`.
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
  /// The key gets a random ID of 64 hexadecimal digits, and a user record name of its own for the
  /// records that it creates.
  ///
  /// - Throws: `StoreError` with the code `exists` if the container's environment already has this
  ///   key.
  public static func addServerKey(
    named name: String, container: String, environment: ContainerEnvironment,
    publicKey: ES256PublicKey, to store: CredentialService, at now: Timestamp
  ) async throws -> ServerKey {
    let key = ServerKey(
      keyID: SecureRandom.bytes(count: 32).hexadecimal, name: name, container: container,
      environment: environment, publicKey: try publicKey.pem,
      userRecordName: "_" + SecureRandom.bytes(count: 16).hexadecimal, created: now)
    try await store.addServerKey(key)
    return key
  }
}
