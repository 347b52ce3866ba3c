import CloudKitModel
import Cryptography
import Foundation
import HTTPService
import StoreModel
import WebServices

/// The session of a browser at the pages of shares.
///
/// The browser has the web auth token of the session in a cookie. The token is valid for these pages
/// only: no request of the protocol can name its container. It is replaced by newer ones as the
/// tokens of web apps are (``SessionRotation``).
struct ShareSession: Sendable {
  /// The container of the sessions. It does not begin with `iCloud.`, so no app has it.
  static let container = "share-page"
  static let environment = ContainerEnvironment.production
  private static let cookieName = "petrel-share"

  /// The record name of the signed-in user.
  var user: String
  /// The ID of the session, which all its tokens have.
  private var id: [UInt8]
  /// The header field that gives the browser a newer token; empty if it has the newest one.
  var cookieHeader: [(String, String)] = []

  /// Finds the session of a request by its cookie; nil if the browser is not signed in.
  init?(_ request: HTTPRequest, in tokens: WebAuthTokens, at publicURL: String) async throws {
    let cookies = HTTPRequest.cookies(in: request.header("Cookie"))
    guard let text = cookies.first(where: { $0.name == Self.cookieName })?.value else { return nil }
    let path = ServicePath(
      container: Self.container, environment: Self.environment, scope: nil, operation: "share")
    do {
      let (token, next) = try await tokens.token(text, for: path)
      guard let session = token.session else { return nil }
      user = token.userRecordName
      id = session.id
      if let next, next != text {
        cookieHeader = [Self.cookie(next, for: session.lifetime, at: publicURL)]
      }
    } catch let error as ServiceError where error.code == .authenticationFailed {
      return nil
    }
  }

  /// Ends the session: its tokens are not valid any more, also for a copy of the cookie.
  func end(in tokens: WebAuthTokens) async throws {
    try await tokens.end(sessionWithID: id, of: user)
  }

  /// An empty token removes the cookie. The lifetime is in seconds.
  static func cookie(
    _ token: String, for lifetime: Double, at publicURL: String
  ) -> (String, String) {
    let folder = URLComponents(string: publicURL)?.percentEncodedPath ?? ""
    return (
      "Set-Cookie",
      "\(cookieName)=\(token); Path=\(folder)\(ShareURL.folder); Max-Age=\(Int(lifetime)); "
        + "HttpOnly; SameSite=Lax" + (publicURL.hasPrefix("https:") ? "; Secure" : "")
    )
  }

  // MARK: The proof

  /// Returns the proof that the page of a share was shown in this session. The forms of the page
  /// contain it, and it is valid for ``SignIn/formLifetime`` seconds.
  func proof(for shortGUID: String, _ seal: TextSeal, at now: Timestamp) -> String {
    seal.seal(
      [:], for: "share", holder: holder(shortGUID),
      until: now.advanced(bySeconds: SignIn.formLifetime))
  }

  /// Whether a proof was made for this session and this share, and has not expired.
  func accepts(
    proof: String, for shortGUID: String, _ seal: TextSeal, at now: Timestamp
  ) -> Bool {
    seal.open(proof, for: "share", holder: holder(shortGUID), at: now) != nil
  }

  private func holder(_ shortGUID: String) -> String { "\(Base64URL.encode(id)) \(shortGUID)" }
}
