import CloudKitModel
import DatabaseAPI
import HTTPService
import StoreModel
import WebServices

/// The endpoints `session`, which describes the caller's sign-in, and `session/sign-out`, which
/// ends a browser's session.
///
/// The answer of `session` to the console:
///
///     { "key": { "identifier": "3f2a9c0112345678", "label": "Alice's laptop" },
///       "expires": 1764331200000, "proof": "…" }
///
/// The console sends the value of `proof` in the header field ``AdminAuthenticator/proofHeader`` of
/// its later requests. `expires` is in milliseconds since 1970.
struct AdminSessionEndpoints: AdminEndpoints {
  let authenticator: AdminAuthenticator
  /// Returns the URL at which clients reach the server. If this URL begins with `https:`, browsers
  /// send the cookie only over TLS.
  let publicURL: @Sendable () -> String

  private static let key = AnswerShape<AdminKey>("AdminKey") { key in
    key.member("identifier") { $0.identifier }
    key.member("label") { $0.label }
  }

  /// The shape of `session`. `expires` and `proof` exist only for a browser's session.
  private static let session = AnswerShape<AdminRequest> { request in
    request.optional("key", key) { $0.identity.key }
    request.optional("expires") { $0.identity.session?.expires }
    request.optional("proof") { request -> String? in
      guard request.identity.session != nil else { return nil }
      return ConsoleCookie.value(in: request.http.header("Cookie")).map {
        AdminAuthenticator.proof(of: $0)
      }
    }
  }

  private static let end = AnswerShape<Bool>.member("signedOut")

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "session", [],
      "The admin key of the request; for a browser's session also its end and its proof",
      answers: Self.session
    ) { _ in { $0 } },
    .post(
      "session/sign-out", [], "Ends a browser's session", answers: Self.end.schema, Self.signOut),
  ]

  /// Ends the session of the request, which must have one, and clears its cookie.
  private func signOut(_ request: AdminRequest) async throws -> HTTPResponse {
    guard let session = request.identity.session else {
      throw ServiceError(
        .badRequest, "there is no session to end: the request itself contains the admin key")
    }
    try await authenticator.endSession(session)
    var response = HTTPResponse(true, as: Self.end)
    response.headers.append(
      ConsoleCookie.header(clearingWhereSecure: publicURL().hasPrefix("https:")))
    return response
  }
}
