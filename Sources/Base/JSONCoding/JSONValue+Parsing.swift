import Foundation

extension JSONValue {
  /// Parses a UTF-8 JSON text, with the extensions of ``JSONDocument``.
  public init(parsing data: Data) throws(JSONError) {
    self = try JSONDocument(parsing: data).root.value
  }

  /// Parses a JSON text.
  public init(parsing text: String) throws(JSONError) {
    try self.init(parsing: Data(text.utf8))
  }
}
