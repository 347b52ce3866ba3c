import Foundation

/// The line numbers of the members in a JSON text, for error messages about them.
///
/// ```swift
/// JSONLines(data).lines[["push", "port"]]  // 7
/// ```
public struct JSONLines {
  /// The line of each member, from 1, by the names on the way to it. Members inside arrays have no
  /// entry.
  public private(set) var lines: [[String]: Int] = [:]

  private let bytes: [UInt8]
  /// The offset of the next byte.
  private var place = 0
  private var line = 1

  /// Finds the members of a text.
  ///
  /// - Parameter data: a text that ``JSONDocument`` parses without an error. Other texts give
  ///   incomplete results.
  public init(_ data: Data) {
    bytes = Array(data)
    readValue([])
  }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { advance() }
  }

  private mutating func advance() {
    if bytes[place] == 0x0A { line += 1 }
    place += 1
  }

  /// Skips a value and records the members in it.
  ///
  /// - Parameter path: the names on the way to the value; `nil` inside an array.
  private mutating func readValue(_ path: [String]?) {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): readMembers(path)
    case UInt8(ascii: "["): readElements()
    case UInt8(ascii: "\""): _ = readString()
    default:
      while let byte = next, !",]}".utf8.contains(byte) { advance() }
    }
  }

  private mutating func readMembers(_ path: [String]?) {
    advance()
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { break }
      let start = line
      let name = readString()
      if let path { lines[path + [name]] = start }
      skipSpace()
      if next == UInt8(ascii: ":") { advance() }
      readValue(path.map { $0 + [name] })
      skipSpace()
      if next == UInt8(ascii: ",") { advance() }
    }
    if next != nil { advance() }
  }

  private mutating func readElements() {
    advance()
    while let byte = next, byte != UInt8(ascii: "]") {
      readValue(nil)
      skipSpace()
      if next == UInt8(ascii: ",") { advance() }
      skipSpace()
    }
    if next != nil { advance() }
  }

  private mutating func readString() -> String {
    let start = place
    advance()
    while let byte = next, byte != UInt8(ascii: "\"") {
      advance()
      if byte == UInt8(ascii: "\\"), next != nil { advance() }
    }
    if next != nil { advance() }
    // The text parsed as JSON before, so this string does too.
    return (try? JSONValue(parsing: Data(bytes[start..<place])))?.string ?? ""
  }
}
