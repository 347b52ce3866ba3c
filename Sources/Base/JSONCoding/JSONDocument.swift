import Foundation

/// A parsed JSON text (RFC 8259) whose values are decoded only when code reads them.
///
/// A document has the bytes of the text and one flat list with the place of each value. So a text
/// with many small values needs only two blocks of memory, and a search for a member allocates
/// none:
///
/// ```swift
/// let document = try JSONDocument(parsing: body)
/// let name = document.root["record"]?["recordName"]?.string
/// ```
///
/// Where RFC 8259 leaves a choice, the parser decides like this: It accepts a byte order mark. It
/// refuses an object in which a name is repeated, a surrogate without its pair, and numbers beyond
/// the range of doubles. A number too near to 0 for a double becomes 0. A whole number that does not
/// fit `Int64` becomes the nearest double (``JSONNode/isWholeBeyond64Bits``).
public final class JSONDocument: Sendable {
  /// The place and the kind of one value in the text, or of one name of a member. A container is an
  /// array or an object. After the entry of an array come the entries of its elements. After the
  /// entry of an object come the entries of its members, each a name and then a value.
  struct Entry {
    /// The kind of a value. A string with escapes is an `escapedString`, because code that reads
    /// the string must decode it.
    enum Kind: UInt8 {
      case null, bool, int, double, string, escapedString, array, object
    }

    var kind: Kind
    /// The offset of the value's first byte. For a string, it is the byte after the quote.
    var start: UInt32
    /// The index in ``entries`` of the first entry after this value and its contents.
    var end: UInt32
    /// For a number, its 64 bits as an `Int64` or a `Double`. For a boolean, 0 or 1. For a string,
    /// its length in bytes between the quotes, escapes included. For a container, its number of
    /// elements or members.
    var content: UInt64
  }

  let bytes: [UInt8]
  /// The entries in the order of the text; the first is the root.
  let entries: [Entry]

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the broken rule and the position in bytes. The parser also
  ///   refuses texts of 4 GiB and more, and more than 512 containers inside each other. It refuses
  ///   names of members over 512 bytes (escapes included), and numbers beyond the range of doubles.
  /// - Complexity: O(*n* log *n*), where *n* is the text's length in bytes.
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
  /// The approximate place of the mistake: the number of bytes before the mistake.
  public let position: Int

  public var description: String { "not valid JSON: \(rule) around character \(position)" }

  /// Returns a description with line and column, both from 1. It is for a text of several lines,
  /// such as a file. The column counts bytes.
  public func description(in text: Data) -> String {
    let before = text.prefix(position)
    let newline = UInt8(ascii: "\n")
    let line = 1 + before.count { $0 == newline }
    let column =
      1 + (before.split(separator: newline, omittingEmptySubsequences: false).last?.count ?? 0)
    return "not valid JSON: \(rule) around line \(line), column \(column)"
  }
}
