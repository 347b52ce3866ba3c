/// The request line and the header fields of a request, as far as its receipt needs them.
struct RequestHead: Sendable {
  var method: String
  var target: String
  var version: String
  var headers: [(name: String, value: String)]

  func values(of name: String) -> [String] {
    headers.lazy.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
  }

  /// The announced length of the body in bytes; `nil` without a valid number, `Int.max` for a
  /// larger number.
  var contentLength: Int? {
    values(of: "Content-Length").first.flatMap { text in
      Self.isNumber(text) ? Int(text) ?? Int.max : nil
    }
  }

  /// Whether the body comes in chunks, without an announced length.
  var isChunked: Bool { !values(of: "Transfer-Encoding").isEmpty }

  /// Whether a text has only digits. The readers of C and Swift also accept signs, which RFC 9110
  /// section 8.6 does not allow.
  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The bytes of the header fields, with 4 for each field's separators.
  var fieldSize: Int { headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 } }

  /// Whether the client waits for `100 Continue` (RFC 9110 section 10.1.1).
  var expectsContinue: Bool {
    values(of: "Expect").contains { $0.equalsIgnoringASCIICase("100-continue") }
  }

  /// The rule of RFC 9112 that the request breaks and that libmicrohttpd does not check; `nil` if
  /// there is none.
  ///
  /// - The target and the host (section 3.2).
  /// - Names and values that other programs read differently (section 5).
  /// - Two readings of where the body ends, which allows request smuggling (sections 6.1 and 6.3).
  var violation: String? {
    if !RequestTarget.isAllowed(target) {
      return "the request target has bytes other than visible ASCII; escape them with %"
    }
    for (name, value) in headers {
      // The important case is a space before the colon.
      guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
        return "the name of a header field contains a byte that names must not have"
      }
      guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        return "the value of a header field contains a control character"
      }
    }
    let hosts = values(of: "Host").count
    if hosts > 1 || hosts == 0 && version != "HTTP/1.0" {
      return "the request must have one Host header field, and it has \(hosts)"
    }
    let lengths = values(of: "Content-Length")
    let codings = values(of: "Transfer-Encoding")
    if lengths.count > 1 { return "the request has more than one Content-Length" }
    if !lengths.allSatisfy(Self.isNumber) { return "the Content-Length is not a number" }
    if codings.count > 1 || codings.contains(where: { !$0.equalsIgnoringASCIICase("chunked") }) {
      return "the only supported Transfer-Encoding is chunked"
    }
    if !lengths.isEmpty && !codings.isEmpty {
      return "the request has both a Content-Length and a Transfer-Encoding"
    }
    return nil
  }

  /// Whether a name may have the byte (RFC 9110 section 5.6.2).
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: "!#$%&'*+.^`|~".utf8.contains(byte)
    }
  }
}
