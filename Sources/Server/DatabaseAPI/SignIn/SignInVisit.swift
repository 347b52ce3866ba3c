import CloudKitModel
import Cryptography
import HTTPService

/// A browser at the sign-in page: what it was sent there for, and the cookie by which it is known
/// again.
struct SignInVisit: Sendable {
  private static let cookieName = "petrel-sign-in"
  /// Bytes of the cookie's random value.
  private static let cookieSize = 32

  var request: SignInRequest
  /// The request as it stands in the URL.
  var state: String
  /// Random, and known to this browser alone.
  var holder: String
  /// Whether the browser brought the cookie.
  var isReturning: Bool
  private let publicURL: String
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

  /// The value of the sign-in's cookie among those that a browser sent.
  static func holder(inCookies header: String?) -> String? {
    HTTPRequest.cookies(in: header).first {
      $0.name == cookieName && Base64URL.decode($0.value)?.count == cookieSize
    }?.value
  }

  /// Sets the cookie where the browser has none. It lasts as long as the browser runs.
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

  /// What the form carries to show that this browser was shown it, for this request.
  var proof: String {
    seal.seal(
      [:], for: "form", holder: "\(holder) \(state)",
      until: now.advanced(bySeconds: SignIn.formLifetime))
  }

  func accepts(proof: String) -> Bool {
    seal.open(proof, for: "form", holder: "\(holder) \(state)", at: now) != nil
  }
}
