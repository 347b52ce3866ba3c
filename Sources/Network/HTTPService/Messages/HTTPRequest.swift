import Foundation

/// A request as it arrived, with its whole body in memory or in a file.
public struct HTTPRequest: Sendable {
  /// The method as sent, such as `GET`; methods are case-sensitive (RFC 9110, section 9.1).
  public var method: String
  /// The path with its percent escapes decoded. An escaped slash is a slash here; where that
  /// matters, see ``rawPath``. An escape that is not two hexadecimal digits stays as it is, and
  /// bytes that are not UTF-8 become U+FFFD.
  public var path: String
  /// The path exactly as sent, escapes and all: what a signature is made over.
  public var rawPath: String
  /// What follows the first `?`, exactly as sent; nil where there is no `?`.
  public var rawQuery: String?
  /// The query's parameters in order, names and values decoded (`+` is a space). A parameter
  /// without `=` has an empty value.
  public var query: [(name: String, value: String)]
  /// The header fields in order, names as sent.
  public var headers: [(name: String, value: String)]
  /// Empty when the body went to ``bodyFile``.
  public var body: Data
  /// The body, where ``HTTPServer/Spooling`` says that it goes to a file. The server lets go of it
  /// when the answer is sent.
  public var bodyFile: HTTPBodyFile?
  /// The numeric address of the peer, without the port; empty where ``isFromSocketFile``.
  public var remoteAddress: String
  /// Whether the peer connected to the server's ``SocketFile``, which only the server's own user and root can.
  public var isFromSocketFile: Bool

  /// A request from its parts, as a test without sockets needs it.
  ///
  /// - Parameter target: What stands in the request line: a path with or without a query
  ///   (`/a/b?c=d`), an absolute URL (its scheme and authority are dropped), or `*`.
  public init(
    method: String, target: String, headers: [(name: String, value: String)] = [],
    body: Data = Data(), bodyFile: HTTPBodyFile? = nil, remoteAddress: String = "127.0.0.1",
    isFromSocketFile: Bool = false
  ) {
    let target = RequestTarget(target)
    self.method = method
    self.path = target.path
    self.rawPath = target.rawPath
    self.rawQuery = target.rawQuery
    self.query = target.query
    self.headers = headers
    self.body = body
    self.bodyFile = bodyFile
    self.remoteAddress = remoteAddress
    self.isFromSocketFile = isFromSocketFile
  }

  /// The value of the first query parameter with this name; nil where there is none.
  public func query(_ name: String) -> String? {
    query.first { $0.name == name }?.value
  }

  /// The value of the first header field with this name, in whatever case; nil where there is
  /// none. Only ASCII letters are folded, for names have no others (RFC 9110, section 5.1).
  public func header(_ name: String) -> String? {
    headers.first { $0.name.equalsIgnoringASCIICase(name) }?.value
  }
}

extension String {
  func equalsIgnoringASCIICase(_ other: String) -> Bool {
    utf8.count == other.utf8.count
      && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
  }
}

extension UInt8 {
  fileprivate var asciiLowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
