import CloudKitModel
import Foundation
import JSONCoding
import OutboundHTTP

/// A client of one OpenID Connect issuer, a service at which users sign in. The client caches the
/// metadata document with the issuer's URLs, and the public keys for the check of ID tokens.
///
/// A sign-in takes two steps:
///
/// ```swift
/// let issuer = Issuer(settings)
/// let url = try await issuer.url(for: request)
/// // The browser opens the URL and returns to this server with a code.
/// let identity = try await issuer.identity(forCode: code, of: request)
/// ```
///
/// All methods throw ``OpenIDError``. Concurrent sign-ins share one download of the document or the
/// keys.
public actor Issuer {
  /// The time in seconds after which the metadata document is downloaded again.
  static let documentLifetime = 86_400.0
  /// The maximum number of codes that are exchanged at the same time. Above it, a sign-in fails
  /// with ``OpenIDError/Code/overloaded``.
  static let limit = 32

  /// The operator's settings for the issuer.
  public nonisolated let settings: IssuerSettings
  private let fetcher: BoundedFetcher
  private let clock: @Sendable () -> Timestamp
  /// The cached metadata document with the time of its download.
  private var metadata: (value: IssuerMetadata, fetched: Timestamp)?
  private var metadataFetch: Task<IssuerMetadata, any Error>?
  private var keys = KeySetCache()
  private var keysFetch: Task<Void, any Error>?
  /// The number of codes that are being exchanged.
  private var exchanges = 0

  /// Creates a client. The client sends nothing before the first sign-in or check.
  ///
  /// - Parameters:
  ///   - fetcher: the HTTP client; several issuers may share one.
  ///   - clock: the source of the current time.
  public init(
    _ settings: IssuerSettings, fetcher: BoundedFetcher = BoundedFetcher(),
    clock: @escaping @Sendable () -> Timestamp = { .now }
  ) {
    self.settings = settings
    self.fetcher = fetcher
    self.clock = clock
  }

  /// Returns the URL at which the browser signs in. The issuer's document is downloaded if the
  /// cached one is older than one day.
  public func url(for request: AuthorizationRequest) async throws -> String {
    request.url(at: try await currentMetadata().authorizationEndpoint, settings)
  }

  /// Sends the code from the browser to the issuer, gets an ID token for it, and returns the
  /// identity in the token.
  ///
  /// The method checks the token's signature with the issuer's published keys, and its claims with
  /// ``IDTokenRules``.
  ///
  /// - Throws: ``OpenIDError/Code/refused`` if the issuer rejects the code.
  ///   ``OpenIDError/Code/invalidToken`` for a token that fails a check.
  ///   ``OpenIDError/Code/overloaded`` if ``limit`` exchanges are in progress. Other codes of
  ///   ``OpenIDError`` for a failure of the issuer or of this server's credential.
  public func identity(
    forCode code: String, of request: AuthorizationRequest
  ) async throws -> IssuerIdentity {
    guard exchanges < Self.limit else {
      throw OpenIDError(
        .overloaded, "\(Self.limit) sign-ins at \(settings.issuer) are in progress, the limit")
    }
    exchanges += 1
    defer { exchanges -= 1 }
    let token = try SignedToken(parsing: try await idToken(forCode: code, of: request))
    let key = try await key(for: token)
    guard key.isValid(signature: token.signature, for: token.signedText.utf8) else {
      throw OpenIDError(
        .invalidToken, "the signature of the ID token was not made by \(settings.issuer)")
    }
    let rules = IDTokenRules(
      issuer: settings.issuer, clientID: settings.clientID, nonce: request.nonce)
    return try rules.identity(token.claims, at: clock())
  }

  /// Downloads the issuer's document and keys as for a sign-in, but without the caches.
  ///
  /// - Returns: the header field `Date` of the answer with the document, for a comparison of the
  ///   clocks; nil if there is none.
  public func checkReachability() async throws -> String? {
    let url = IssuerMetadata.url(ofIssuer: settings.issuer)
    let answer = try await fetcher.fetch(url, form: nil, authorization: nil)
    let metadata = try IssuerMetadata(try Self.object(answer, from: url), issuer: settings.issuer)
    _ = try IssuerKeySet(try await document(metadata.keysURL), issuer: settings.issuer)
    return answer.headers["date"]
  }

  // MARK: The token

  /// Exchanges a code for the text of an ID token (OpenID Connect Core 1.0, section 3.1.3).
  private func idToken(
    forCode code: String, of request: AuthorizationRequest
  ) async throws -> String {
    let metadata = try await currentMetadata()
    let credential = try ClientCredential(
      settings, takesSecretInForm: metadata.takesSecretInForm, at: clock())
    let form = FormText.encode(
      [
        ("grant_type", "authorization_code"), ("code", code),
        ("redirect_uri", request.redirectURL), ("code_verifier", request.verifier),
      ] + credential.fields)
    let answer = try await fetcher.fetch(
      metadata.tokenEndpoint, form: form, authorization: credential.authorization)
    // If the answer is not JSON, it contains neither an error nor a token. The checks below report
    // that.
    let json = (try? JSONValue(parsing: Data(answer.body))).flatMap { $0.isStreamSafe ? $0 : nil }
    guard answer.status == 200 else {
      let detail = [json?["error"]?.string, json?["error_description"]?.string]
        .compactMap { $0 }.joined(separator: ": ")
      throw OpenIDError(
        .refused, "\(settings.issuer) refused the code with \(answer.status) \(detail.prefix(300))")
    }
    guard let token = json?["id_token"]?.string else {
      throw OpenIDError(.badAnswer, "\(settings.issuer) answered without an ID token")
    }
    return token
  }

  // MARK: The issuer's document and keys

  private func currentMetadata() async throws -> IssuerMetadata {
    if let metadata {
      let age = clock().seconds - metadata.fetched.seconds
      if (0..<Self.documentLifetime).contains(age) { return metadata.value }
    }
    // Concurrent callers wait for the same download.
    if let metadataFetch { return try await metadataFetch.value }
    let fetch = Task { [settings] in
      try IssuerMetadata(
        try await document(IssuerMetadata.url(ofIssuer: settings.issuer)),
        issuer: settings.issuer)
    }
    metadataFetch = fetch
    defer { metadataFetch = nil }
    let value = try await fetch.value
    metadata = (value, clock())
    return value
  }

  /// Returns the key with which a token is signed, and downloads the keys if necessary.
  ///
  /// - Throws: ``OpenIDError/Code/invalidToken`` if the issuer does not publish the key.
  private func key(for token: SignedToken) async throws -> IssuerKey {
    for _ in 1...2 {
      switch keys.action(forKeyNamed: token.keyID, algorithm: token.algorithm, at: clock()) {
      case .use(let key): return key
      case .fetch: try await fetchKeys()
      case .refuse: throw unknownKey(token)
      }
    }
    throw unknownKey(token)
  }

  private func unknownKey(_ token: SignedToken) -> OpenIDError {
    OpenIDError(
      .invalidToken,
      "the ID token is signed with the key '\((token.keyID ?? "").prefix(100))', which "
        + "\(settings.issuer) does not publish")
  }

  /// Downloads the keys, or waits for the download that is under way.
  private func fetchKeys() async throws {
    if let keysFetch { return try await keysFetch.value }
    let fetch = Task {
      let url = try await currentMetadata().keysURL
      let set = try IssuerKeySet(try await document(url), issuer: settings.issuer)
      keys.take(set, at: clock())
    }
    keysFetch = fetch
    defer { keysFetch = nil }
    try await fetch.value
  }

  private func document(_ url: String) async throws -> JSONValue {
    try Self.object(try await fetcher.fetch(url, form: nil, authorization: nil), from: url)
  }

  /// Returns the JSON object in an answer.
  ///
  /// - Throws: ``OpenIDError/Code/unreachable`` for a status other than 200.
  ///   ``OpenIDError/Code/badAnswer`` for content that is not a JSON object, or that contains a
  ///   text with too many combining characters to compare safely.
  private static func object(_ answer: OutboundAnswer, from url: String) throws -> JSONValue {
    guard answer.status == 200 else {
      throw OpenIDError(.unreachable, "\(url) answered with \(answer.status)")
    }
    // The next check reports an answer that is not JSON.
    guard let json = try? JSONValue(parsing: Data(answer.body)), json.object != nil,
      json.isStreamSafe
    else {
      throw OpenIDError(.badAnswer, "\(url) did not answer with a JSON object of plain texts")
    }
    return json
  }
}
