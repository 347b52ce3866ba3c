import Foundation

/// The parser of ``JSONDocument``. It records the place of each value in a text. A list of the open
/// containers (arrays and objects that have not ended) replaces recursion.
struct JSONParser {
  private typealias Entry = JSONDocument.Entry

  /// The greatest number of containers inside each other.
  static let deepest = 512
  /// The greatest length of a member's name in bytes, escapes included. Code that reads members
  /// hashes their names. For a string of combining marks, Swift's hash takes time that grows with
  /// the square of the length.
  static let longestName = 512

  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  private var entries: [Entry] = []
  /// The indexes of the entries of the open containers, the innermost last.
  private var open: [Int] = []

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
    entries.reserveCapacity(bytes.count / 8 + 4)
  }

  /// Parses the text and returns its entries. Call this method once.
  mutating func parse() throws(JSONError) -> [JSONDocument.Entry] {
    guard bytes.count < UInt32.max else { throw error("the text is longer than 4 GiB") }
    try checkEncoding()
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    skipSpace()
    try parseValue()
    while let container = open.last { try parseNext(in: container) }
    skipSpace()
    guard position == bytes.count else { throw error("there is more text after the value") }
    return entries
  }

  // MARK: Containers

  /// Parses the next element or member of a container, or the end of the container.
  private mutating func parseNext(in container: Int) throws(JSONError) {
    let isObject = entries[container].kind == .object
    skipSpace()
    if next == UInt8(ascii: isObject ? "}" : "]") {
      position += 1
      entries[container].end = UInt32(entries.count)
      if isObject { try checkNames(of: container) }
      open.removeLast()
      return
    }
    if entries[container].content > 0 {
      guard next == UInt8(ascii: ",") else {
        throw error(isObject ? "',' or '}' is missing" : "',' or ']' is missing")
      }
      let comma = position
      position += 1
      skipSpace()
      guard next != UInt8(ascii: isObject ? "}" : "]") else {
        throw JSONError(
          rule: "the ',' before '\(isObject ? "}" : "]")' is one too many", position: comma)
      }
    }
    entries[container].content += 1
    if isObject {
      guard next == UInt8(ascii: "\"") else { throw error("a member's name is missing") }
      try parseName()
      skipSpace()
      guard next == UInt8(ascii: ":") else { throw error("':' is missing") }
      position += 1
      skipSpace()
    }
    try parseValue()
  }

  private mutating func parseValue() throws(JSONError) {
    switch next {
    case UInt8(ascii: "\""): try parseString()
    case UInt8(ascii: "{"): try beginContainer(.object)
    case UInt8(ascii: "["): try beginContainer(.array)
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): try parseNumber()
    case UInt8(ascii: "t"): try parseWord("true", .bool, content: 1)
    case UInt8(ascii: "f"): try parseWord("false", .bool, content: 0)
    case UInt8(ascii: "n"): try parseWord("null", .null, content: 0)
    case nil: throw error("the text ends too early")
    default: throw error("a value is missing")
    }
  }

  private mutating func beginContainer(_ kind: Entry.Kind) throws(JSONError) {
    guard open.count < Self.deepest else {
      throw error("the text is nested deeper than \(Self.deepest)")
    }
    open.append(entries.count)
    append(kind, from: position, content: 0)
    position += 1
  }

  // MARK: Words and numbers

  private mutating func parseWord(
    _ word: StaticString, _ kind: Entry.Kind, content: UInt64
  ) throws(JSONError) {
    let count = word.utf8CodeUnitCount
    guard bytes.count - position >= count,
      (0..<count).allSatisfy({ bytes[position + $0] == word.utf8Start[$0] })
    else { throw error("a value is missing") }
    append(kind, from: position, content: content)
    position += count
  }

  /// Parses a number. The parser computes short numbers itself; the standard library converts all
  /// others.
  private mutating func parseNumber() throws(JSONError) {
    let start = position
    let isNegative = next == UInt8(ascii: "-")
    if isNegative { position += 1 }
    // All digits, without the point, as one whole number. It is exact up to 18 digits.
    var digits: UInt64 = 0
    let whole = position
    if next == UInt8(ascii: "0") { position += 1 } else { skipDigits(into: &digits) }
    guard position > whole else { throw error("a digit is missing") }
    var count = position - whole
    var exponent = 0
    var isWhole = true
    if next == UInt8(ascii: ".") {
      isWhole = false
      position += 1
      let fraction = position
      skipDigits(into: &digits)
      guard position > fraction else { throw error("a digit is missing") }
      count += position - fraction
      exponent = fraction - position
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      isWhole = false
      exponent += try parseExponent()
    }
    if isWhole, count <= 18 {
      let int = isNegative ? -Int64(digits) : Int64(digits)
      append(.int, from: start, content: UInt64(bitPattern: int))
    } else if !isWhole, count <= 15, abs(exponent) < Self.powersOfTen.count {
      // Both operands are exact, so the result is rounded once and is the nearest double (W.
      // Clinger, How to read floating point numbers accurately, PLDI 1990).
      let power = Self.powersOfTen[abs(exponent)]
      let magnitude = exponent < 0 ? Double(digits) / power : Double(digits) * power
      append(.double, from: start, content: (isNegative ? -magnitude : magnitude).bitPattern)
    } else {
      try appendLongNumber(from: start, isWhole: isWhole)
    }
  }

  /// Adds the entry of a number that is too long for ``parseNumber()`` to compute.
  private mutating func appendLongNumber(from start: Int, isWhole: Bool) throws(JSONError) {
    let text = String(
      decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
    if isWhole, let int = Int64(text) {
      append(.int, from: start, content: UInt64(bitPattern: int))
      return
    }
    guard let double = Double(text), double.isFinite else {
      position = start
      throw error("the number is beyond the range of doubles")
    }
    append(.double, from: start, content: double.bitPattern)
  }

  /// Consumes digits and appends them to a number. An overflow is ignored.
  private mutating func skipDigits(into digits: inout UInt64) {
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      digits = digits &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
      position += 1
    }
  }

  private mutating func parseExponent() throws(JSONError) -> Int {
    position += 1
    let isNegative = next == UInt8(ascii: "-")
    if isNegative || next == UInt8(ascii: "+") { position += 1 }
    var digits: UInt64 = 0
    let start = position
    skipDigits(into: &digits)
    guard position > start else { throw error("a digit is missing") }
    // An exponent this large is outside the range of doubles, so its exact value does not matter.
    let magnitude = position - start > 9 ? 1_000_000_000 : Int(digits)
    return isNegative ? -magnitude : magnitude
  }

  /// The powers of ten that a double holds exactly.
  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  // MARK: Strings

  private mutating func parseName() throws(JSONError) {
    let start = position
    try parseString()
    guard entries[entries.count - 1].content <= Self.longestName else {
      position = start
      throw error("a member's name is longer than \(Self.longestName) bytes")
    }
  }

  /// Parses a string and checks its escapes, but does not decode the string.
  private mutating func parseString() throws(JSONError) {
    position += 1
    let start = position
    var hasEscapes = false
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        append(
          hasEscapes ? .escapedString : .string, from: start,
          content: UInt64(position - start))
        position += 1
        return
      case UInt8(ascii: "\\"):
        hasEscapes = true
        guard let escape = JSONEscape(bytes[position...]) else {
          throw error("a backslash is followed by an unknown escape")
        }
        position += escape.length
      case 0..<0x20:
        throw error("a control character in a string must be escaped")
      default:
        position += 1
      }
    }
    throw error("a string does not end")
  }

  private func checkNames(of object: Int) throws(JSONError) {
    let names = JSONNames(of: object, in: entries, bytes)
    guard let repeated = names.firstRepeated else { return }
    throw JSONError(
      rule: "the member '\(path(ofMember: names.text(of: repeated)))' is repeated",
      position: Int(entries[repeated].start) - 1)
  }

  /// Returns the path of a member of the innermost open container, such as `records[2].fields.title`.
  private func path(ofMember name: String) -> String {
    var path = ""
    for (container, inner) in zip(open, open.dropFirst()) {
      if entries[container].kind == .array {
        path += "[\(entries[container].content - 1)]"
        continue
      }
      let member = JSONNames(of: container, in: entries, bytes).text(of: inner - 1)
      path += path.isEmpty ? member : "." + member
    }
    return path.isEmpty ? name : "\(path).\(name)"
  }

  private func checkEncoding() throws(JSONError) {
    if bytes.allSatisfy({ $0 < 0x80 }) { return }
    guard String(bytes: bytes, encoding: .utf8) != nil else {
      throw error("the text is not UTF-8")
    }
  }

  // MARK: Bytes

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  /// Adds an entry. The parser later sets the end of a container's entry.
  private mutating func append(_ kind: Entry.Kind, from start: Int, content: UInt64) {
    entries.append(
      Entry(
        kind: kind, start: UInt32(start), end: UInt32(entries.count + 1), content: content))
  }

  private func error(_ what: String) -> JSONError {
    JSONError(rule: what, position: position)
  }
}
