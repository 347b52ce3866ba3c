import HTTPService

/// The cookie by which a browser's session at the console is known.
enum ConsoleCookie {
  private static let name = "petrel-console"
  /// Only a page of the same host over TLS can have set a cookie with this prefix (RFC 6265bis,
  /// section 4.1.3.2).
  private static let secureName = "__Host-" + name

  /// The cookie's value among those that a browser sent.
  static func value(in header: String?) -> String? {
    HTTPRequest.cookies(in: header).first { $0.name == name || $0.name == secureName }?.value
  }

  /// The header field that gives a browser the cookie.
  static func header(setting value: String, forSeconds lifetime: Double, isSecure: Bool)
    -> (String, String)
  {
    (
      "Set-Cookie",
      "\(isSecure ? secureName : name)=\(value); Path=/; Max-Age=\(Int(lifetime)); HttpOnly; "
        + "SameSite=Strict" + (isSecure ? "; Secure" : "")
    )
  }

  /// The header field that takes it away.
  static func header(clearingWhereSecure isSecure: Bool) -> (String, String) {
    header(setting: "", forSeconds: 0, isSecure: isSecure)
  }
}
