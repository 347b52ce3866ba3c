import Foundation

/// The target of a request line, taken apart (RFC 9112, section 3.2).
struct RequestTarget {
  var rawPath: String
  var rawQuery: String?

  init(_ target: String) {
    var rest = Substring(target)
    if let scheme = rest.range(of: "://"), !target.hasPrefix("/"),
      !rest[..<scheme.lowerBound].contains(where: { $0 == "?" || $0 == "/" })
    {
      // The absolute form: everything up to the path names this server.
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

  /// The parameters of a text in the form of a query, in order.
  static func parameters(_ text: String) -> [(name: String, value: String)] {
    text.split(separator: "&").map { parameter in
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (
        decoded(parts[0], plusIsSpace: true),
        parts.count > 1 ? decoded(parts[1], plusIsSpace: true) : ""
      )
    }
  }

  private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
    let bytes = text.utf8
    guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
      return String(text)
    }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      index = bytes.index(after: index)
      if byte == UInt8(ascii: "+"), plusIsSpace {
        result.append(UInt8(ascii: " "))
      } else if byte == UInt8(ascii: "%"),
        let end = bytes.index(index, offsetBy: 2, limitedBy: bytes.endIndex),
        bytes[index..<end].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
        let value = UInt8(text[index..<end], radix: 16)
      {
        result.append(value)
        index = end
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether every byte may stand in a request line: visible ASCII.
  static func isAllowed(_ target: String) -> Bool {
    !target.isEmpty && target.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
