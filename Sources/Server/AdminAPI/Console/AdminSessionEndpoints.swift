import HTTPService
import JSONCoding
import WebServices

/// What someone who is signed in may know and do about that.
struct AdminSessionEndpoints: AdminEndpoints {
  let authenticator: AdminAuthenticator
  let publicURL: @Sendable () -> String

  var endpoints: [AdminEndpoint] {
    [
      .get("session", [], show)
        .described(
          "The key that was shown; of a browser's session its end and its proof",
          answers: .object(["key": .adminKey, "expires?": .time, "proof?": .text])),
      .post("session/sign-out", [], signOut)
        .described("Ends a browser's session", answers: .object(["signedOut": .bool])),
    ]
  }

  private func show(_ request: AdminRequest) -> HTTPResponse {
    request.object { writer in
      if let key = request.identity.key {
        writer.key("key")
        writer.object { writer in
          writer.member("identifier", key.identifier)
          writer.member("label", key.label)
        }
      }
      writer.member("expires", ifPresent: request.identity.session?.expires)
      if request.identity.session != nil,
        let cookie = ConsoleCookie.value(in: request.http.header("Cookie"))
      {
        writer.member("proof", AdminAuthenticator.proof(of: cookie))
      }
    }
  }

  private func signOut(_ request: AdminRequest) async throws -> HTTPResponse {
    guard let session = request.identity.session else {
      throw ServiceError(
        .badRequest, "there is no session to end: the key came with the request itself")
    }
    try await authenticator.endSession(session)
    var response = request.object { $0.member("signedOut", true) }
    response.headers.append(
      ConsoleCookie.header(clearingWhereSecure: publicURL().hasPrefix("https:")))
    return response
  }
}
