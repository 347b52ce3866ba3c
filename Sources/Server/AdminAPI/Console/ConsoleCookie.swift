import HTTPService

/// The cookie that identifies a browser's session in the console.
enum ConsoleCookie {
  private static let name = "petrel-console"
  /// The cookie's name over TLS. Only a page of the same host over TLS can set a cookie with this
  /// prefix (RFC 6265bis, section 4.1.3.2).
  private static let secureName = "__Host-" + name

  /// Returns the cookie's value in a request's `Cookie` field, under either name; nil if it is
  /// missing.
  static func value(in header: String?) -> String? {
    HTTPRequest.cookies(in: header).first { $0.name == name || $0.name == secureName }?.value
  }

  /// Returns the `Set-Cookie` field that gives a browser the cookie. Scripts cannot read the
  /// cookie, and browsers do not send it with requests of other sites.
  ///
  /// - Parameters:
  ///   - lifetime: the time in seconds after which the browser deletes the cookie.
  ///   - isSecure: whether browsers reach the server over TLS.
  static func header(setting value: String, forSeconds lifetime: Double, isSecure: Bool)
    -> (String, String)
  {
    (
      "Set-Cookie",
      "\(isSecure ? secureName : name)=\(value); Path=/; Max-Age=\(Int(lifetime)); HttpOnly; "
        + "SameSite=Strict" + (isSecure ? "; Secure" : "")
    )
  }

  /// Returns the `Set-Cookie` field that deletes the cookie.
  static func header(clearingWhereSecure isSecure: Bool) -> (String, String) {
    header(setting: "", forSeconds: 0, isSecure: isSecure)
  }
}
