import CloudKitModel
import Foundation
import HTTPService
import JSONCoding

@testable import APNsSimulation
@testable import AdminAPI
@testable import Cryptography
@testable import DatabaseAPI
@testable import OpenIDConnect

// What shows who somebody is.
extension FuzzTarget {
  static let signatures = [
    identityTokens, issuerDocuments, signedRequests, signatureBytes, keyFiles, cookies,
  ]

  /// Header, claims and signature on a line each, so that what is attacked is within the base64url.
  private static func token(_ input: [UInt8]) -> String {
    input.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
      .map { Base64URL.encode($0) }.joined(separator: ".")
  }

  private static let identityTokens = FuzzTarget(
    "identity-tokens",
    words: [
      "\"alg\":\"ES256\"", "\"alg\":\"RS256\"", "\"alg\":\"none\"", "\"kid\":\"", "\"crit\":",
      "\"iss\":\"https://issuer.example\"", "\"sub\":\"", "\"aud\":\"client\"", "\"azp\":",
      "\"exp\":", "\"iat\":", "\"nbf\":", "\"nonce\":\"nonce\"", "\"email\":", "\n", "1e300",
    ], readsSafeTexts: true
  ) { input in
    let rules = IDTokenRules(
      issuer: "https://issuer.example", clientID: "client", nonce: "nonce")
    for text in [token(input), input.text] {
      if let token = read({ try SignedToken(parsing: text) }) {
        try hold(token.claims.object != nil, "claims are an object")
        _ = read {
          try rules.identity(token.claims, at: Timestamp(milliseconds: 1_790_000_000_000))
        }
      }
      if let token = read({ try ProviderToken(parsing: text) }) {
        _ = read { try token.checkAge(now: .now, lifetime: 3600, expiry: nil) }
      }
    }
  }

  private static let issuerDocuments = FuzzTarget(
    "issuer-documents", longest: 2048,
    words: [
      "\"issuer\":\"https://issuer.example\"", "\"authorization_endpoint\":\"https://",
      "\"token_endpoint\":", "\"jwks_uri\":", "\"token_endpoint_auth_methods_supported\":[",
      "\"keys\":[", "\"kty\":\"EC\"", "\"kty\":\"RSA\"", "\"crv\":\"P-256\"", "\"x\":\"",
      "\"y\":\"", "\"n\":\"", "\"e\":\"AQAB\"", "\"use\":\"sig\"", "\"alg\":\"RS256\"",
      "\"kid\":\"",
    ]
  ) { input in
    guard let json = read({ try JSONValue(parsing: Data(input)) }) else { return }
    let issuer = "https://issuer.example"
    if let document = read({ try IssuerMetadata(json, issuer: issuer) }) {
      for url in [document.authorizationEndpoint, document.tokenEndpoint, document.keysURL] {
        try hold(URL(string: url) != nil, "\(url) is a URL")
      }
      let request = AuthorizationRequest(
        redirectURL: "https://petrel.example/back", state: "s", nonce: "n", verifier: "v")
      let settings = IssuerSettings(
        issuer: issuer, clientID: "client", credential: .secret("c"), label: "l")
      try hold(
        URL(string: request.url(at: document.authorizationEndpoint, settings)) != nil,
        "where the browser goes is a URL")
    }
    guard let keys = read({ try IssuerKeySet(json, issuer: issuer) }) else { return }
    for algorithm in [IssuerKey.Algorithm.rs256, .es256] {
      for name in [nil, "", "k"] {
        let key = keys.key(named: name, for: algorithm)
        try hold(
          key?.isValid(signature: [UInt8](repeating: 1, count: 64), for: [1, 2, 3]) != true,
          "a made-up signature is none")
      }
    }
  }

  private static let signedRequests = FuzzTarget(
    "signed-requests", longest: 512, words: ["2026-09-01T00:00:00Z", ".000Z", "+00:00", "\n"]
  ) { input in
    let lines = input.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3 else { return }
    for signature in [lines[2].text, Data(lines[2]).base64EncodedString()] {
      let request = HTTPRequest(
        method: "POST", target: "/database/1/" + lines[0].text,
        headers: [
          ("X-Apple-CloudKit-Request-KeyID", lines[0].text),
          ("X-Apple-CloudKit-Request-ISO8601Date", lines[1].text),
          ("X-Apple-CloudKit-Request-SignatureV1", signature),
        ])
      guard let signed = read({ try SignedRequest(request) }) ?? nil else { continue }
      try hold(!signed.isValid(for: request, key: key), "a made-up signature is none")
      try hold(!signed.expectedMessage(for: request).isEmpty, "a message is expected")
    }
  }

  // swift-format-ignore: NeverUseForceTry
  // Without a key there is nothing to attack.
  private static let key = try! ES256PrivateKey().publicKey

  private static let signatureBytes = FuzzTarget("signature-bytes", longest: 256) { input in
    if let signature = read({ try ES256Signature(der: input) }) {
      let again = try must("a signature that was written is read") {
        try ES256Signature(der: signature.der)
      }
      try hold(again == signature, "a signature that was written is the same")
      try hold(!key.isValid(signature: signature, for: input), "a made-up signature is none")
    }
    _ = read { try ES256Signature(raw: input) }
    if let point = read({ try ES256PublicKey(uncompressedPoint: input) }) {
      try hold(point.uncompressedPoint == input, "a point that was read is the same")
    }
    let text = input.text
    if let bytes = Base64URL.decode(text) {
      try hold(
        Base64URL.decode(Base64URL.encode(bytes)) == bytes, "bytes that were encoded are the same")
    }
    try hold(Base64URL.decode(Base64URL.encode(input)) == input, "any bytes can be encoded")
  }

  private static let keyFiles = FuzzTarget(
    "key-files", longest: 2048,
    words: [
      "-----BEGIN PUBLIC KEY-----\n", "-----END PUBLIC KEY-----\n",
      "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN EC PRIVATE KEY-----\n",
      "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n",
    ], readsSafeTexts: true
  ) { input in
    let text = input.text
    if let key = read({ try ES256PublicKey(pem: text) }) {
      try hold(key.uncompressedPoint.count == 65, "a key is a point")
    }
    if let key = read({ try ES256PrivateKey(pem: text) }) {
      _ = try must("a key that was read signs") { try key.signature(for: [1]) }
    }
    _ = read { try CertificateSummary.all(inPEM: text) }
    _ = read { try CertificateHost(parsing: text) }
  }

  private static let cookies = FuzzTarget(
    "cookies-and-seals", longest: 512, words: ["=", "; ", "petrel", ".", "https://"],
    readsSafeTexts: true
  ) { input in
    let text = input.text
    _ = (ConsoleCookie.value(in: text), SignInVisit.holder(inCookies: text))
    let seal = TextSeal(key: [UInt8](repeating: 7, count: 32))
    try hold(
      seal.open(text, for: "visit", at: Timestamp(milliseconds: 0)) == nil,
      "nothing made up is open")
    let sealed = seal.seal(
      ["text": .string(text)], for: "visit", until: Timestamp(milliseconds: 10))
    try hold(
      seal.open(sealed, for: "visit", at: Timestamp(milliseconds: 1))?["text"] == .string(text),
      "what was sealed is the same")
    _ = SignInRequest.origin(of: text)
    if let json = read({ try JSONValue(parsing: text) })?.object { _ = SignInRequest(json) }
  }
}
