import Foundation

/// A complete request, with its body in memory or in a file.
public struct HTTPRequest: Sendable {
  /// The method as sent, such as `GET`. Methods are case-sensitive (RFC 9110 section 9.1).
  public var method: String
  /// The path with its percent escapes decoded. An escaped slash becomes a slash; where that
  /// matters, use ``rawPath``.
  ///
  /// An escape without two hexadecimal digits stays as it is. Bytes that are not UTF-8 become
  /// U+FFFD.
  public var path: String
  /// The path exactly as sent, with its escapes. Signatures cover this form.
  public var rawPath: String
  /// The text after the first `?`, exactly as sent; `nil` without a `?`.
  public var rawQuery: String?
  /// The parameters of the query in order, with names and values decoded (`+` is a space). A
  /// parameter without `=` has an empty value.
  public var query: [(name: String, value: String)]
  /// The header fields in order, with the names as sent.
  public var headers: [(name: String, value: String)]
  /// The body; empty if it is in ``bodyFile``.
  public var body: Data
  /// The file with the body, if ``HTTPServer/Spooling`` applies; otherwise `nil`. The server
  /// releases it after the answer.
  public var bodyFile: HTTPBodyFile?
  /// The numeric address of the client, without the port; empty if ``isFromSocketFile`` is `true`.
  public var remoteAddress: String
  /// Whether the client connected to the server's ``SocketFile``. Only the server's own user and
  /// root can.
  public var isFromSocketFile: Bool

  /// Creates a request from its parts, for tests without sockets.
  ///
  /// - Parameter target: the target of the request line: a path with or without a query
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

  /// Returns the value of the first query parameter with this name; `nil` if there is none.
  public func query(_ name: String) -> String? {
    query.first { $0.name == name }?.value
  }

  /// Returns the value of the first header field with this name, in any case; `nil` if there is
  /// none. Only ASCII letters are folded, because names have no others (RFC 9110 section 5.1).
  public func header(_ name: String) -> String? {
    headers.first { $0.name.equalsIgnoringASCIICase(name) }?.value
  }
}

extension String {
  func equalsIgnoringASCIICase(_ other: String) -> Bool {
    utf8.count == other.utf8.count
      && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
  }
}

extension UInt8 {
  fileprivate var asciiLowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
