import CloudKitModel
import HTTPService
import WebServices

extension HTTPRequest {
  /// Throws unless the path, the query, the header fields and a page's form may be compared and hashed:
  /// they are stream-safe. What reads a body of JSON looks at its texts itself.
  ///
  /// - Parameter isForm: whether the body is a page's form. Programs such as curl call any body a form.
  /// - Throws: `BAD_REQUEST` naming the part.
  package func checkTexts(isForm: Bool) throws(ServiceError) {
    guard path.isStreamSafe else { throw Self.unsafe("the path") }
    for (name, value) in query where !(name.isStreamSafe && value.isStreamSafe) {
      throw Self.unsafe("a parameter of the query")
    }
    for (_, value) in headers where !value.isStreamSafe { throw Self.unsafe("a header field") }
    guard isForm else { return }
    for (name, value) in formFields where !(name.isStreamSafe && value.isStreamSafe) {
      throw Self.unsafe("a field of the form")
    }
  }

  private static func unsafe(_ part: String) -> ServiceError {
    ServiceError(.badRequest, "\(part) \(ServiceError.markRule)")
  }
}
