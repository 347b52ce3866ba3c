import Foundation

/// The line numbers of the members in a JSON text, for error messages about them.
///
/// ```swift
/// JSONLines(data).lines[["push", "port"]]  // 7
/// ```
public struct JSONLines {
  /// The line of each member, from 1. The key is a path: the names of the objects that contain the
  /// member, from the outermost one, and its own name. Members inside arrays have no entry. If a
  /// name is repeated in an object, its last line counts.
  public private(set) var lines: [[String]: Int] = [:]

  private let bytes: [UInt8]
  private var place = 0
  private var line = 1

  /// Finds the members of a text.
  ///
  /// - Parameter data: a text that ``JSONDocument`` parses without an error. For other texts,
  ///   ``lines`` is incomplete. For a text with a byte order mark, ``lines`` is empty.
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

  /// Skips a value and records the members in it. The path is `nil` inside an array.
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
    // The whole text is valid JSON, so this string is valid JSON too.
    return (try? JSONValue(parsing: Data(bytes[start..<place])))?.string ?? ""
  }
}
