import Foundation

/// A parsed JSON text (RFC 8259) whose values are decoded only when code reads them.
///
/// It has the bytes of the text and one flat list of the values' places. So a message of many small
/// values costs two allocations, and finding a member costs none:
///
/// ```swift
/// let document = try JSONDocument(parsing: body)
/// let name = document.root["record"]?["recordName"]?.string
/// ```
///
/// Beyond RFC 8259, the parser accepts a byte order mark, and a comma after the last element or
/// member. If members have the same name, the first counts. A whole number beyond `Int64` becomes
/// the nearest double.
public final class JSONDocument: Sendable {
  /// The place and kind of one value or name in the text. The entries of a container's contents
  /// follow its own: elements, or names and values in turn.
  struct Entry {
    /// The kind of a value. A string with escapes has a kind of its own, because reading it needs
    /// decoding.
    enum Kind: UInt8 {
      case null, bool, int, double, string, escapedString, array, object
    }

    var kind: Kind
    /// The offset of the value's first byte. For a string, it is the byte after the quote.
    var start: UInt32
    /// The index of the next entry after this one and its contents.
    var end: UInt32
    /// A number's bits, a boolean's 0 or 1, a string's length in bytes, or a container's number of
    /// elements or members.
    var content: UInt64
  }

  /// The text as it came.
  let bytes: [UInt8]
  /// The entries in the order of the text; the first is the root.
  let entries: [Entry]

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the broken rule and the position in bytes. It also refuses a text
  ///   over 4 GiB, nesting deeper than 512, names of members over 512 bytes, and numbers beyond the
  ///   range of doubles.
  /// - Complexity: O(*n*) in the text's length.
  public init(parsing data: Data) throws(JSONError) {
    let bytes = [UInt8](data)
    let result = bytes.withUnsafeBufferPointer { buffer -> Result<[Entry], JSONError> in
      var parser = JSONParser(buffer)
      return Result { () throws(JSONError) in try parser.parse() }
    }
    entries = try result.get()
    self.bytes = bytes
  }

  /// The value of the whole text.
  public var root: JSONNode { JSONNode(document: self, index: 0) }
}

/// The error of a text that is not JSON.
public struct JSONError: Error, Sendable, CustomStringConvertible {
  /// The broken rule, such as `a value is missing`.
  public let rule: String
  /// The approximate place of the mistake: the number of bytes before it.
  public let position: Int

  public var description: String { "not valid JSON: \(rule) around character \(position)" }

  /// Returns a description with line and column, both from 1, for a text of several lines, such as
  /// a file.
  ///
  /// - Parameter text: the parsed text.
  public func description(in text: Data) -> String {
    let before = text.prefix(position)
    let newline = UInt8(ascii: "\n")
    let line = 1 + before.count { $0 == newline }
    let column =
      1 + (before.split(separator: newline, omittingEmptySubsequences: false).last?.count ?? 0)
    return "not valid JSON: \(rule) around line \(line), column \(column)"
  }
}
