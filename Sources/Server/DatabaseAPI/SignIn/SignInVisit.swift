import CloudKitModel
import Cryptography
import HTTPService

/// The visit of a browser at the sign-in page: the app's request, and the cookie that identifies
/// the browser.
struct SignInVisit: Sendable {
  private static let cookieName = "petrel-sign-in"
  private static let cookieSize = 32
  var request: SignInRequest
  /// The sealed text of ``request``, as it is in the page's URL.
  var state: String
  /// The random value of the cookie, which only this browser knows.
  var holder: String
  /// Whether the browser sent the cookie. If not, ``holder`` is a new value.
  var isReturning: Bool
  /// The URL at which clients reach the server. It decides whether the cookie is for HTTPS only.
  private let publicURL: String
  /// The seal that makes and checks the proof.
  private let seal: TextSeal
  private let now: Timestamp

  init(
    request: SignInRequest, state: String, cookies: String?, publicURL: String, seal: TextSeal,
    now: Timestamp
  ) {
    self.request = request
    self.state = state
    self.publicURL = publicURL
    self.seal = seal
    self.now = now
    let brought = Self.holder(inCookies: cookies)
    isReturning = brought != nil
    holder = brought ?? Base64URL.encode(SecureRandom.bytes(count: Self.cookieSize))
  }

  /// Returns the value of the sign-in's cookie; nil if the browser sent none, or one of another
  /// size.
  static func holder(inCookies header: String?) -> String? {
    HTTPRequest.cookies(in: header).first {
      $0.name == cookieName && Base64URL.decode($0.value)?.count == cookieSize
    }?.value
  }

  /// The header field that sets the cookie, if the browser has none. The browser keeps the cookie
  /// until it is closed.
  var cookieHeader: [(String, String)] {
    guard !isReturning else { return [] }
    let isSecure = publicURL.hasPrefix("https:")
    return [
      (
        "Set-Cookie",
        "\(Self.cookieName)=\(holder); Path=/; HttpOnly; SameSite=Lax"
          + (isSecure ? "; Secure" : "")
      )
    ]
  }

  /// The proof that this browser was shown the form for this request. The form contains the proof,
  /// which is valid for ``SignIn/formLifetime`` seconds.
  var proof: String {
    seal.seal(
      [:], for: "form", holder: "\(holder) \(state)",
      until: now.advanced(bySeconds: SignIn.formLifetime))
  }

  /// Whether a proof was made for this browser and this request, and has not expired.
  func accepts(proof: String) -> Bool {
    seal.open(proof, for: "form", holder: "\(holder) \(state)", at: now) != nil
  }
}
