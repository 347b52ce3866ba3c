import HTTPService
import WebServices

extension HTTPRequest {
  /// The value of a query parameter that the store looks for or keeps; nil where there is none.
  ///
  /// - Throws: `BAD_REQUEST` where it has the character U+0000.
  func plainQuery(_ name: String) throws(ServiceError) -> String? {
    guard let text = query(name) else { return nil }
    guard !text.utf8.contains(0) else {
      throw ServiceError(.badRequest, "\(name): \(ServiceError.nulRule)")
    }
    return text
  }
}
