import Foundation

/// A JSON text that was parsed (RFC 8259), with nothing in it decoded before it is asked for.
///
/// It holds the text's bytes and one flat list that tells what stands where in them, so that a
/// message of many small values costs two allocations, and reading a member none:
///
/// ```swift
/// let document = try JSONDocument(parsing: body)
/// let name = document.root["record"]?["recordName"]?.string
/// ```
///
/// Beyond RFC 8259 it lets pass a byte order mark and a comma after the last element or member. Of
/// members with the same name the first counts. A whole number beyond `Int64` becomes the nearest
/// double.
public final class JSONDocument: Sendable {
  /// What stands at one place of the text. The entries of a container follow its own: elements, or
  /// names and values in turns.
  struct Entry {
    enum Kind: UInt8 {
      case null, bool, int, double, string, escapedString, array, object
    }

    var kind: Kind
    /// The first byte of the value; that of a string is behind the quote.
    var start: UInt32
    /// The index of the entry behind this one and all that it holds.
    var end: UInt32
    /// A number's bits, a boolean's 0 or 1, a string's length in bytes, a container's count of
    /// elements or members.
    var content: UInt64
  }

  let bytes: [UInt8]
  let entries: [Entry]

  /// - Throws: ``JSONError`` with what is wrong and the place, in bytes from the beginning; also for
  ///   texts nested deeper than 512, for names of members longer than 512 bytes, and for numbers beyond
  ///   the range of doubles.
  /// - Complexity: linear in the text's length.
  public init(parsing data: Data) throws(JSONError) {
    let bytes = [UInt8](data)
    let result = bytes.withUnsafeBufferPointer { buffer -> Result<[Entry], JSONError> in
      var parser = JSONParser(buffer)
      return Result { () throws(JSONError) in try parser.parse() }
    }
    entries = try result.get()
    self.bytes = bytes
  }

  public var root: JSONNode { JSONNode(document: self, index: 0) }
}

/// A text that is not JSON.
public struct JSONError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, such as `a value is missing`.
  public let rule: String
  /// The bytes before the place, about.
  public let position: Int

  public var description: String { "not valid JSON: \(rule) around character \(position)" }

  /// What is wrong in a text of several lines, such as a file.
  ///
  /// - Parameter text: the one that was parsed.
  public func description(in text: Data) -> String {
    let before = text.prefix(position)
    let newline = UInt8(ascii: "\n")
    let line = 1 + before.count { $0 == newline }
    let column =
      1 + (before.split(separator: newline, omittingEmptySubsequences: false).last?.count ?? 0)
    return "not valid JSON: \(rule) around line \(line), column \(column)"
  }
}
