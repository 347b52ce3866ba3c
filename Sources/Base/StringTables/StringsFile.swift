import Foundation

/// A `.strings` file: the texts of one language, each with its key.
///
/// ```
/// /* Title of the alert */
/// "EARTHQUAKE_%@" = "Earthquake of magnitude %@";
/// ```
///
/// The grammar is that of Foundation's old-style property lists. In addition, `\u` means the same
/// as `\U`.
/// <https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/PropertyLists/OldStylePlists/OldStylePLists.html>
struct StringsFile {
  private(set) var strings: [String: String] = [:]

  /// Reads the contents of a file: text in UTF-8, text in UTF-16 with a byte order mark, or an XML
  /// or binary property list. Xcode writes property lists into bundles.
  init(_ data: Data, path: String) throws(PetrelStringsError) {
    if data.starts(with: Array("bplist".utf8)) || data.first == UInt8(ascii: "<") {
      strings = try Self.propertyList(data, path: path)
      return
    }
    let isUTF16 = data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF])
    guard let text = String(data: data, encoding: isUTF16 ? .utf16 : .utf8) else {
      throw PetrelStringsError(
        path: path, line: nil, rule: "must be UTF-8, or UTF-16 with a byte order mark")
    }
    var reader = StringsReader(text, path: path)
    // If a key occurs twice, its last text counts, as in Foundation.
    while let (key, value) = try reader.next() { strings[key] = value }
  }

  private static func propertyList(
    _ data: Data, path: String
  ) throws(PetrelStringsError) -> [String: String] {
    let list: Any
    do {
      list = try PropertyListSerialization.propertyList(from: data, format: nil)
    } catch {
      throw PetrelStringsError(path: path, line: nil, rule: "is not a property list: \(error)")
    }
    guard let strings = list as? [String: String] else {
      throw PetrelStringsError(
        path: path, line: nil, rule: "must be a dictionary whose values are all texts")
    }
    return strings
  }
}

/// The parser of a `.strings` file. It reads UTF-16 code units, because the escape `\U` stands for
/// one code unit.
private struct StringsReader {
  private let units: [UInt16]
  private let path: String
  private var position = 0
  private var line = 1

  init(_ text: String, path: String) {
    units = Array((text.first == "\u{FEFF}" ? text.dropFirst() : text[...]).utf16)
    self.path = path
  }

  /// Returns the next key with its text; `nil` at the end. A key without `=` is its own text.
  mutating func next() throws(PetrelStringsError) -> (key: String, value: String)? {
    try skipBlanks()
    if position == units.count { return nil }
    let key = try string("a key")
    var value = key
    try skipBlanks()
    if take("=") {
      try skipBlanks()
      value = try string("the text of '\(key)'")
      try skipBlanks()
    }
    guard take(";") else { throw mistake("a ';' is missing behind '\(key)'") }
    return (key, value)
  }

  private func mistake(_ rule: String, at line: Int? = nil) -> PetrelStringsError {
    PetrelStringsError(path: path, line: line ?? self.line, rule: rule)
  }

  /// Returns the code unit `offset` places after the next one, without consuming it.
  private func peek(_ offset: Int = 0) -> UInt16? {
    position + offset < units.count ? units[position + offset] : nil
  }

  /// Consumes and returns the next code unit, and counts lines; returns `nil` at the end.
  private mutating func advance() -> UInt16? {
    guard let unit = peek() else { return nil }
    position += 1
    if unit == UInt16(ascii: "\n") { line += 1 }
    return unit
  }

  /// Consumes the next code unit if it is `character`, which must not be a line break.
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek() == UInt16(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func skipBlanks() throws(PetrelStringsError) {
    while let unit = peek() {
      switch unit {
      case 0x09...0x0D, 0x20, 0x2028, 0x2029: _ = advance()
      case UInt16(ascii: "/") where peek(1) == UInt16(ascii: "/"):
        while let unit = peek(), ![0x0A, 0x0D, 0x2028, 0x2029].contains(unit) { _ = advance() }
      case UInt16(ascii: "/") where peek(1) == UInt16(ascii: "*"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(PetrelStringsError) {
    let start = line
    position += 2
    while let unit = advance() {
      if unit == UInt16(ascii: "*"), take("/") { return }
    }
    throw mistake("a comment begins here and has no '*/'", at: start)
  }

  /// Reads a text in quotes, or a word without quotes. `what` names the text in errors.
  private mutating func string(_ what: String) throws(PetrelStringsError) -> String {
    if let quote = peek(), quote == UInt16(ascii: "\"") || quote == UInt16(ascii: "'") {
      return try quoted()
    }
    let start = position
    while let unit = peek(), Self.isWordUnit(unit) { position += 1 }
    guard position > start else { throw mistake("\(what) is missing") }
    return String(decoding: units[start..<position], as: UTF16.self)
  }

  private static func isWordUnit(_ unit: UInt16) -> Bool {
    guard let scalar = Unicode.Scalar(unit), scalar.isASCII else { return false }
    return Character(scalar).isLetter || Character(scalar).isNumber
      || "_$/:.-".contains(Character(scalar))
  }

  private mutating func quoted() throws(PetrelStringsError) -> String {
    let start = line
    let quote = advance()
    var text: [UInt16] = []
    while let unit = advance() {
      if unit == quote { return String(decoding: text, as: UTF16.self) }
      text.append(unit == UInt16(ascii: "\\") ? try escape() : unit)
    }
    throw mistake("a text begins here and has no closing quote", at: start)
  }

  /// Reads an escape after its backslash, and returns the code unit that it stands for.
  private mutating func escape() throws(PetrelStringsError) -> UInt16 {
    guard let unit = advance() else { throw mistake("the file ends behind a backslash") }
    guard let character = Unicode.Scalar(unit) else { return unit }
    switch character {
    case "a": return 0x07
    case "b": return 0x08
    case "t": return 0x09
    case "n": return 0x0A
    case "v": return 0x0B
    case "f": return 0x0C
    case "r": return 0x0D
    case "U", "u": return try digits(4, radix: 16, "'\\U' needs one to four hexadecimal digits")
    case "0"..."7":
      position -= 1
      let rule = "octal escapes end with '\\177'; write '\\U' with hexadecimal digits"
      let value = try digits(3, radix: 8, rule)
      guard value < 0x80 else { throw mistake(rule) }
      return value
    default: return unit
    }
  }

  /// Reads one to `count` digits. Throws an error with `rule` when there is no digit.
  private mutating func digits(
    _ count: Int, radix: Int, _ rule: String
  ) throws(PetrelStringsError) -> UInt16 {
    var value: Int?
    for _ in 0..<count {
      guard
        let digit = peek().flatMap(Unicode.Scalar.init)
          .flatMap({ Int(String($0), radix: radix) })
      else { break }
      value = (value ?? 0) * radix + digit
      position += 1
    }
    guard let value else { throw mistake(rule) }
    return UInt16(value)
  }
}

extension UInt16 {
  fileprivate init(ascii character: Unicode.Scalar) {
    self = UInt16(UInt8(ascii: character))
  }
}
