import CloudKitModel
import Foundation

@testable import PetrelServer

/// The credentials of requests, by their names in docs/reference/access-table.md.
extension AccessWorld {
  private static let webAuth = "ckWebAuthToken"
  private static let api = "ckAPIToken"

  /// The ways in, of which each is let in as somebody. Several may be the same.
  var lettingIn: [String: [Shown]] {
    [
      "nobody": [Shown(container: Self.open)],
      "web app": [Shown(query: [(Self.api, apiToken)])],
      "user": [
        Shown(query: [(Self.webAuth, service.alice.token)]),
        Shown(query: [(Self.api, apiToken), (Self.webAuth, session)]),
      ],
      "program": [
        holes.contains(.serverKeyIsUser)
          ? Shown(query: [(Self.webAuth, service.alice.token)])
          : Shown(sign: { try key.headers($0, $1) })
      ],
    ]
  }

  /// The credentials that give no permission.
  var refused: [String: Shown] {
    let alice = service.alice.token
    return [
      "nothing": Shown(),
      "API token that nobody made": query((Self.api, String(repeating: "0", count: 64))),
      "API token that was revoked": query((Self.api, revokedAPIToken)),
      "API token of another container": query((Self.api, foreignAPIToken)),
      "API token of the other environment": query((Self.api, productionAPIToken)),
      "API token, from a page of another origin": Shown(
        query: [(Self.api, limitedAPIToken)], headers: "Origin: https://evil.example.com\r\n"),
      "API token as a web auth token": query((Self.webAuth, apiToken)),
      "revoked API token beside a native token": query(
        (Self.api, revokedAPIToken), (Self.webAuth, alice)),
      "native token, altered": query((Self.webAuth, altered(alice))),
      "native token that expired": query((Self.webAuth, expiredToken)),
      "native token whose user was signed out": query((Self.webAuth, endedToken)),
      "native token in a header field": Shown(headers: "Authorization: Bearer \(alice)\r\n"),
      "session's token without API token": query((Self.webAuth, session)),
      "session's token, altered": app(altered(session)),
      "session's token that expired": app(expiredSession),
      "session's token of another container": app(foreignSession),
      "session's token of the other environment": app(productionSession),
      "session's token, signed out": app(endedSession),
      "web courier's token": query((Self.webAuth, courierToken)),
      "ID token of an issuer": query((Self.webAuth, Self.idToken)),
      "admin key": Shown(headers: "Authorization: Bearer \(adminKey)\r\n"),
      "admin key as a web auth token": query((Self.webAuth, adminKey)),
      "console's cookie": Shown(headers: consoleCookie),
      "program's key that nobody registered": Shown(sign: {
        try key.headers($0, $1, showing: String(repeating: "0", count: 64))
      }),
      "program's key that was revoked": Shown(sign: { try revokedKey.headers($0, $1) }),
      "program's key of another container": Shown(sign: { try foreignKey.headers($0, $1) }),
      "program's key of the other environment": Shown(sign: {
        try productionKey.headers($0, $1)
      }),
      "signature of another key": Shown(sign: {
        try foreignKey.headers($0, $1, showing: key.keyID)
      }),
      "signature of another body": Shown(sign: { try key.headers($0, $1 + " ") }),
      "signature of another path": Shown(sign: { try key.headers($0 + "x", $1) }),
      "signature of another date": Shown(sign: {
        try key.headers($0, $1) { "2016" + $0.dropFirst(4) }
      }),
      "signature, ten minutes old": Shown(sign: {
        try key.headers($0, $1, after: holes.contains(.oldDate) ? 0 : -601)
      }),
      "signature, ten minutes early": Shown(sign: { try key.headers($0, $1, after: 602) }),
      "signature without its date": Shown(sign: {
        try key.headers($0, $1).components(separatedBy: "\r\n")
          .filter { !$0.contains("ISO8601Date") }.joined(separator: "\r\n")
      }),
      "bad signature beside a native token": Shown(
        query: [(Self.webAuth, alice)], sign: { try key.headers($0 + "x", $1) }),
    ]
  }

  private func query(_ items: (String, String)...) -> Shown { Shown(query: items) }

  private func app(_ token: String) -> Shown {
    query((Self.api, apiToken), (Self.webAuth, token))
  }

  private func altered(_ token: String) -> String {
    (token.first == "A" ? "B" : "A") + token.dropFirst()
  }

  /// Well formed, and of no meaning here.
  private static let idToken =
    "eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlLmNvbSIsInN1YiI6ImFsaWNlIn0."
}
