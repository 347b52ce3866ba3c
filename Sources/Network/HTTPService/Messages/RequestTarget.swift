import Foundation

/// The parts of a request target (RFC 9112 section 3.2).
struct RequestTarget {
  var rawPath: String
  /// The text after the first `?`; `nil` without one.
  var rawQuery: String?

  /// Splits a target. Scheme and authority of an absolute URL are dropped.
  init(_ target: String) {
    var rest = Substring(target)
    if !target.utf8.starts(with: "/".utf8), let scheme = rest.range(of: "://"),
      !rest[..<scheme.lowerBound].contains(where: { $0 == "?" || $0 == "/" })
    {
      // In the absolute form, the text before the path names this server.
      let authority = rest[scheme.upperBound...]
      rest = authority.firstIndex { $0 == "/" || $0 == "?" }.map { authority[$0...] } ?? ""
      if !rest.hasPrefix("/") { rest = "/" + rest }
    }
    if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
      rawPath = String(rest[..<mark])
      rawQuery = String(rest[rest.utf8.index(after: mark)...])
    } else {
      rawPath = String(rest)
      rawQuery = nil
    }
  }

  var path: String { Self.decoded(Substring(rawPath), plusIsSpace: false) }

  var query: [(name: String, value: String)] {
    rawQuery.map(Self.parameters) ?? []
  }

  /// Returns the parameters of a text in the format of a query, in order and decoded.
  static func parameters(_ text: String) -> [(name: String, value: String)] {
    text.utf8.split(separator: UInt8(ascii: "&")).map { parameter in
      let end = parameter.firstIndex(of: UInt8(ascii: "=")) ?? parameter.endIndex
      return (
        decoded(Substring(parameter[..<end]), plusIsSpace: true),
        decoded(Substring(parameter[end...].dropFirst()), plusIsSpace: true)
      )
    }
  }

  /// Decodes percent escapes. An invalid escape stays as it is; bytes that are not UTF-8 become
  /// U+FFFD.
  private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
    let bytes = text.utf8
    guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
      return String(text)
    }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      if byte == UInt8(ascii: "+"), plusIsSpace {
        result.append(UInt8(ascii: " "))
        continue
      }
      var ahead = rest
      if byte == UInt8(ascii: "%"), let high = ahead.next()?.hexadecimalDigit,
        let low = ahead.next()?.hexadecimalDigit
      {
        result.append(high << 4 | low)
        rest = ahead
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  static func isAllowed(_ target: String) -> Bool {
    !target.isEmpty && target.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}

extension UInt8 {
  /// The value of the byte as a hexadecimal digit in ASCII; `nil` for other bytes.
  fileprivate var hexadecimalDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
