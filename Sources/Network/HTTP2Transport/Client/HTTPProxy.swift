import Foundation

/// A proxy that opens tunnels to servers (`CONNECT`, RFC 9110 section 9.3.6).
public struct HTTPProxy: Sendable, Hashable, CustomStringConvertible {
  /// A user with a password for the proxy (`Basic` authentication, RFC 7617).
  public struct Credentials: Sendable, Hashable {
    /// The user's name, without a colon.
    public var user: String
    /// The password.
    public var password: String

    /// Creates credentials.
    public init(user: String, password: String) {
      self.user = user
      self.password = password
    }
  }

  /// The host name or IP address of the proxy.
  public var host: String
  /// The port of the proxy.
  public var port: Int
  /// The credentials for the proxy; `nil` if the client sends none.
  public var credentials: Credentials?

  /// Creates a proxy from its parts.
  public init(host: String, port: Int, credentials: Credentials? = nil) {
    self.host = host
    self.port = port
    self.credentials = credentials
  }

  /// Creates a proxy from a URL: `http://HOST:PORT` or `http://USER:PASSWORD@HOST:PORT`.
  ///
  /// User and password may be percent-encoded. The default port is 80.
  ///
  /// - Throws: ``HTTP2Error/Code/invalidConfiguration`` with the broken rule. The error contains at
  ///   most the scheme of the URL, because the rest may have a password.
  public init(parsing text: String) throws(HTTP2Error) {
    func mistake(_ rule: String) -> HTTP2Error {
      HTTP2Error(
        .invalidConfiguration,
        "a proxy must be a URL such as http://proxy.example.com:3128: \(rule)")
    }
    guard let parts = URLComponents(string: text) else { throw mistake("the text is not a URL") }
    guard parts.scheme?.lowercased() == "http" else {
      throw mistake("it must begin with http://, not with '\(parts.scheme ?? "")'")
    }
    guard let host = parts.host?.trimmingCharacters(in: ["[", "]"]), !host.isEmpty else {
      throw mistake("the host is missing")
    }
    guard (1...65_535).contains(parts.port ?? 80) else {
      throw mistake("the port must be from 1 to 65535")
    }
    guard ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil else {
      throw mistake("nothing may follow host and port")
    }
    self.init(host: host, port: parts.port ?? 80)
    if let user = parts.user {
      guard !user.isEmpty else { throw mistake("the user's name is missing") }
      guard !user.contains(":") else { throw mistake("the user's name must not have a colon") }
      credentials = Credentials(user: user, password: parts.password ?? "")
    } else if parts.password != nil {
      throw mistake("the user's name is missing")
    }
  }

  /// Host and port, without the credentials.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  func request(host: String, port: Int) -> [UInt8] {
    let target = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    var text = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
    if let credentials {
      let pair = Data("\(credentials.user):\(credentials.password)".utf8)
      text += "Proxy-Authorization: Basic \(pair.base64EncodedString())\r\n"
    }
    return Array((text + "\r\n").utf8)
  }
}
