import CloudKitModel
import Cryptography
import Foundation
import HTTPService
import StoreModel
import WebServices

/// Finds out who makes a request, by what it brings: a web auth token, an API token, both, or the
/// signature of a server-to-server key.
struct Authenticator: Sendable {
  private let directory: CredentialDirectory
  private let webAuthTokens: WebAuthTokens
  private let serverKeys: ServerKeyVerifier

  /// - Parameter signatureWindow: how far the date of a signed request may be from the server's, in
  ///   seconds.
  init(
    store: any CredentialReading, webAuthTokens: WebAuthTokens, signatureWindow: Double,
    forgottenSignatures: ForgottenSignatures, clock: @escaping @Sendable () -> Timestamp
  ) {
    serverKeys = ServerKeyVerifier(
      window: signatureWindow, forgotten: forgottenSignatures, clock: clock)
    directory = CredentialDirectory(store: store, clock: clock)
    self.webAuthTokens = webAuthTokens
  }

  /// What a request shows of who sends it.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` for a token that is unknown, revoked or has expired, for a
  ///   signature that is not good, and where an API token is asked for and none came;
  ///   ``SessionEnd`` when it is a web app's web auth token that is unknown or has expired;
  ///   ``OriginRefusal`` for a page that may not use the API token.
  /// - Parameter onlyReads: whether the operation changes nothing, so that its signature may come again.
  func credentials(
    of request: HTTPRequest, for path: ServicePath, onlyReads: Bool
  ) async throws -> Credentials {
    let entry = try await directory.entry(for: path)
    if let signed = try SignedRequest(request) {
      return try serverKeys.credentials(
        of: signed, request, for: path, onlyReads: onlyReads, keys: entry)
    }
    let apiToken = entry.asksForAPIToken ? try entry.apiToken(of: request) : nil
    var credentials = Credentials(caller: .anonymous, apiToken: apiToken)
    var isNative = false
    // Older builds of CloudKit JS call the token ckSession.
    if let text = request.token("ckWebAuthToken") ?? request.token("ckSession") {
      do {
        let (token, next) = try await webAuthTokens.token(text, for: path)
        credentials.caller = .user(userRecordName: token.userRecordName)
        // Web apps look for the next token in each answer, also for one that stays as it is.
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
            + "ckAPIToken to the query, with a token that 'petrel keys add-api-token' made")
      }
    }
    return credentials
  }

  /// Looks whether a page may send requests with the API token in this one's query.
  ///
  /// - Throws: ``OriginRefusal`` when it may not. A token that is unknown is told with the request
  ///   itself.
  func checkOrigin(of request: HTTPRequest, for path: ServicePath) async throws {
    guard let text = request.token("ckAPIToken") else { return }
    let entry = try await directory.entry(for: path)
    try entry.apiTokens[Self.hash(of: text)]?.checkOrigin(of: request)
  }

  /// What the store keeps in place of a token.
  static func hash(of token: String) -> [UInt8] {
    SHA256.hash(token.utf8)
  }
}

extension HTTPRequest {
  /// The token in a query item, nil when it is absent or empty, or the word with which JavaScript
  /// writes that there is none, as builds of CloudKit JS before 2.0 do. A plus sign that was not
  /// escaped has become a space; what was escaped twice still has percent signs, which no token has.
  fileprivate func token(_ name: String) -> String? {
    guard let text = query(name), !["", "null", "undefined"].contains(text) else { return nil }
    if text.contains(" ") { return text.replacing(" ", with: "+") }
    return text.contains("%") ? text.removingPercentEncoding ?? text : text
  }
}

extension CredentialDirectory.Entry {
  /// The API token that a request brings; nil when it brings none.
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
  fileprivate func checkOrigin(of request: HTTPRequest) throws(OriginRefusal) {
    guard !allowedOrigins.isEmpty, let origin = request.header("Origin"),
      !allowedOrigins.contains(origin)
    else { return }
    throw OriginRefusal(origin: origin, tokenName: name)
  }
}
