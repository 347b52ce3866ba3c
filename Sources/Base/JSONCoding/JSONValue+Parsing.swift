import Foundation

extension JSONValue {
  /// Parses a UTF-8 JSON text, with the leniency of ``JSONDocument``.
  ///
  /// - Throws: ``JSONError`` with what is wrong and the place; also for texts nested deeper than
  ///   512, and for numbers beyond the range of doubles.
  public init(parsing data: Data) throws(JSONError) {
    self = try JSONDocument(parsing: data).root.value
  }

  /// Parses a JSON text.
  public init(parsing text: String) throws(JSONError) {
    try self.init(parsing: Data(text.utf8))
  }
}
