import CloudKitModel
import Cryptography
import Foundation
import HTTPService
import Storage
import StoreModel
import WebServices

/// The check of a request's credentials, which identifies the caller.
///
/// A request has a web auth token, an API token, both, or the signature of a server-to-server key.
/// A request without any of them is anonymous. A signature takes precedence: the tokens of a signed
/// request are not read.
struct Authenticator: Sendable {
  private let directory: CredentialDirectory
  private let webAuthTokens: WebAuthTokens
  private let serverKeys: ServerKeyVerifier

  init(
    store: CredentialService, webAuthTokens: WebAuthTokens, signatureWindow: Double,
    forgottenSignatures: ForgottenSignatures, clock: @escaping @Sendable () -> Timestamp
  ) {
    serverKeys = ServerKeyVerifier(
      window: signatureWindow, forgotten: forgottenSignatures, clock: clock)
    directory = CredentialDirectory(store: store, clock: clock)
    self.webAuthTokens = webAuthTokens
  }

  /// The identity that the head of a request claims.
  enum Identity: Sendable {
    case proven(Credentials)
    /// The request is signed. The signature covers the body.
    case signed(SignedRequest, CredentialDirectory.Entry)
  }

  /// Returns the identity in the head of a request. A request without credentials is anonymous if
  /// the container requires no API token.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` for a token that is unknown, revoked or expired, for a
  ///   signature that cannot be valid, and for a missing API token if the container requires one.
  ///   ``SessionEnd``
  ///   if the request has an API token too, and the web auth token is unknown, has expired or is
  ///   for another container or environment. ``OriginRefusal`` if the request comes from a page
  ///   that may not use the API token.
  func identity(of request: HTTPRequest, for path: ServicePath) async throws -> Identity {
    let entry = try await directory.entry(for: path)
    if let signed = try SignedRequest(request) {
      _ = try serverKeys.key(of: signed, for: path, keys: entry)
      return .signed(signed, entry)
    }
    let apiToken = entry.asksForAPIToken ? try entry.apiToken(of: request) : nil
    var credentials = Credentials(caller: .anonymous, apiToken: apiToken)
    var isNative = false
    // Older builds of CloudKit JS call the token `ckSession`.
    if let text = request.token("ckWebAuthToken") ?? request.token("ckSession") {
      do {
        let (token, next) = try await webAuthTokens.token(text, for: path)
        credentials.caller = .user(userRecordName: token.userRecordName)
        credentials.signIn = token.signIn
        // Web apps expect the next token in each answer, even if the token has not changed.
        credentials.nextWebAuthToken = next ?? (request.token("ckAPIToken") == nil ? nil : text)
        isNative = token.session == nil
      } catch let error as ServiceError
        where error.code == .authenticationFailed && request.token("ckAPIToken") != nil
      {
        throw SessionEnd(credentials: credentials, reason: error.reason)
      }
    }
    if entry.asksForAPIToken {
      guard apiToken != nil || isNative else {
        throw ServiceError(
          .authenticationFailed,
          "\(path.container) (\(path.environment.rawValue)) asks for an API token: add "
            + "ckAPIToken to the query, with a token that 'petrel keys add-api-token' made; an app "
            + "with the native client needs a user's token instead, such as in PETREL_TOKEN, which "
            + "'petrel users add-token' prints")
      }
    }
    return .proven(credentials)
  }

  /// Returns the credentials of a complete signed request. If it only reads, its signature may be
  /// used again.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` for an invalid signature, or one of another time.
  func credentials(
    of signed: (request: SignedRequest, keys: CredentialDirectory.Entry), _ request: HTTPRequest,
    for path: ServicePath, onlyReads: Bool
  ) throws(ServiceError) -> Credentials {
    try serverKeys.credentials(
      of: signed.request, request, for: path, onlyReads: onlyReads, keys: signed.keys)
  }

  /// Checks that a page may send requests with the API token in the query of this preflight
  /// request.
  ///
  /// An unknown token passes. The request that follows the preflight request gets the error.
  ///
  /// - Throws: ``OriginRefusal`` if the page may not use the token.
  func checkOrigin(of request: HTTPRequest, for path: ServicePath) async throws {
    guard let text = request.token("ckAPIToken") else { return }
    let entry = try await directory.entry(for: path)
    try entry.apiTokens[Self.hash(of: text)]?.checkOrigin(of: request)
  }

  /// Returns the SHA-256 hash of a token. The store keeps it in place of the token.
  static func hash(of token: String) -> [UInt8] {
    SHA256.hash(token.utf8)
  }
}

extension HTTPRequest {
  /// Returns the token in a parameter of the query; nil if it is absent or empty.
  ///
  /// The texts `null` and `undefined` count as absent, because CloudKit JS before 2.0 sends them.
  /// In a query, a plus sign without an escape means a space. No token has a space, so the method
  /// turns each space back into a plus sign. No token has a percent sign either, so a text with a
  /// percent sign was escaped twice.
  fileprivate func token(_ name: String) -> String? {
    guard let text = query(name), !["", "null", "undefined"].contains(text) else { return nil }
    if text.utf8.contains(UInt8(ascii: " ")) { return text.replacing(" ", with: "+") }
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    return text.removingPercentEncoding ?? text
  }
}

extension CredentialDirectory.Entry {
  /// Returns the API token of a request; nil if the request has none.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` for an unknown or revoked token; ``OriginRefusal`` for a
  ///   page that may not use the token.
  fileprivate func apiToken(of request: HTTPRequest) throws -> APIToken? {
    guard let text = request.token("ckAPIToken") else { return nil }
    guard let token = apiTokens[Authenticator.hash(of: text)] else {
      throw ServiceError(
        .authenticationFailed,
        "ckAPIToken: the API token is not known for this container and environment; "
          + "'petrel keys list' shows which were made, and 'petrel keys add-api-token' makes one")
    }
    if let revoked = token.revoked {
      throw ServiceError(
        .authenticationFailed,
        "ckAPIToken: the API token '\(token.name)' was revoked at \(revoked.iso8601); "
          + "'petrel keys add-api-token' makes another")
    }
    try token.checkOrigin(of: request)
    return token
  }
}

extension APIToken {
  /// Checks that the token is allowed for the origin of a request. A request without `Origin`
  /// passes, and so does every request if the token lists no origins.
  fileprivate func checkOrigin(of request: HTTPRequest) throws(OriginRefusal) {
    guard !allowedOrigins.isEmpty, let origin = request.header("Origin"),
      !allowedOrigins.contains(origin)
    else { return }
    throw OriginRefusal(origin: origin, tokenName: name)
  }
}
