import CloudKitModel
import Foundation
import JSONCoding
import OutboundHTTP

/// An OpenID Connect issuer as this server talks to it: its document and its keys, which are cached,
/// and its token endpoint.
///
/// ```swift
/// let issuer = Issuer(settings)
/// let url = try await issuer.url(for: request)
/// // The browser goes there, and comes back with a code.
/// let identity = try await issuer.identity(forCode: code, of: request)
/// ```
/// All methods throw ``OpenIDError``.
public actor Issuer {
  /// Seconds after which the document is fetched anew.
  static let documentLifetime = 86_400.0
  /// Codes that are exchanged at the same time; beyond that ``OpenIDError/Code/overloaded``.
  static let limit = 32

  public nonisolated let settings: IssuerSettings
  private let fetcher: BoundedFetcher
  private let clock: @Sendable () -> Timestamp
  private var metadata: (value: IssuerMetadata, fetched: Timestamp)?
  private var metadataFetch: Task<IssuerMetadata, any Error>?
  private var keys = KeySetCache()
  private var keysFetch: Task<Void, any Error>?
  private var exchanges = 0

  public init(
    _ settings: IssuerSettings, fetcher: BoundedFetcher = BoundedFetcher(),
    clock: @escaping @Sendable () -> Timestamp = { .now }
  ) {
    self.settings = settings
    self.fetcher = fetcher
    self.clock = clock
  }

  /// Where to send the browser.
  public func url(for request: AuthorizationRequest) async throws -> String {
    request.url(at: try await currentMetadata().authorizationEndpoint, settings)
  }

  /// Who signed in, by the code that the browser came back with.
  public func identity(
    forCode code: String, of request: AuthorizationRequest
  ) async throws -> IssuerIdentity {
    guard exchanges < Self.limit else {
      throw OpenIDError(
        .overloaded, "\(Self.limit) sign-ins at \(settings.issuer) are under way")
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

  /// Fetches the issuer's document and its keys, as a sign-in would.
  ///
  /// - Returns: the header field `Date` of the answer with the document.
  public func checkReachability() async throws -> String? {
    let url = IssuerMetadata.url(ofIssuer: settings.issuer)
    let answer = try await fetcher.fetch(url, form: nil, authorization: nil)
    let metadata = try IssuerMetadata(try Self.object(answer, from: url), issuer: settings.issuer)
    _ = try IssuerKeySet(try await document(metadata.keysURL), issuer: settings.issuer)
    return answer.headers["date"]
  }

  // MARK: The token

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
    // An answer that is no JSON has nothing of what is looked for.
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

  // MARK: Its document and its keys

  private func currentMetadata() async throws -> IssuerMetadata {
    if let metadata {
      let age = clock().seconds - metadata.fetched.seconds
      if (0..<Self.documentLifetime).contains(age) { return metadata.value }
    }
    // Those who come meanwhile wait for the same fetch.
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

  private static func object(_ answer: OutboundAnswer, from url: String) throws -> JSONValue {
    guard answer.status == 200 else {
      throw OpenIDError(.unreachable, "\(url) answered with \(answer.status)")
    }
    // An answer that is no JSON has nothing of what is looked for.
    guard let json = try? JSONValue(parsing: Data(answer.body)), json.object != nil,
      json.isStreamSafe
    else {
      throw OpenIDError(.badAnswer, "\(url) answered with no JSON object of plain texts")
    }
    return json
  }
}
