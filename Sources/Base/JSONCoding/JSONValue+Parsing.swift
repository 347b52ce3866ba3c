import Foundation

extension JSONValue {
  /// Parses a UTF-8 JSON text, with the extensions of ``JSONDocument``.
  ///
  /// - Throws: ``JSONError``, as ``JSONDocument/init(parsing:)`` does.
  public init(parsing data: Data) throws(JSONError) {
    self = try JSONDocument(parsing: data).root.value
  }

  /// Parses a JSON text.
  ///
  /// - Throws: ``JSONError``, as ``JSONDocument/init(parsing:)`` does.
  public init(parsing text: String) throws(JSONError) {
    try self.init(parsing: Data(text.utf8))
  }
}
