import HTTPService

/// The cookie that identifies a browser's session in the console.
enum ConsoleCookie {
  private static let name = "petrel-console"
  /// The cookie's name over TLS. Browsers accept a cookie with the prefix `__Host-` only if this
  /// host itself sets it over TLS (RFC 6265bis, section 4.1.3.2).
  private static let secureName = "__Host-" + name

  /// Returns the value of the cookie with one of the two names in a `Cookie` field.
  static func value(in header: String?) -> String? {
    HTTPRequest.cookies(in: header).first { $0.name == name || $0.name == secureName }?.value
  }

  /// Returns the `Set-Cookie` field that sets the cookie. Scripts cannot read this cookie, and
  /// browsers do not send it with requests that pages of other sites begin.
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
