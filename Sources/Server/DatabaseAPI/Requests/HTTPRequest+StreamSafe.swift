import CloudKitModel
import HTTPService
import WebServices

extension HTTPRequest {
  /// Throws unless the path, the query and the header fields may be compared and hashed: they are stream-safe. What reads a
  /// body looks at its texts itself.
  ///
  /// - Throws: `BAD_REQUEST` naming the part.
  package func checkTexts() throws(ServiceError) {
    guard path.isStreamSafe else { throw Self.unsafe("the path") }
    for (name, value) in query where !(name.isStreamSafe && value.isStreamSafe) {
      throw Self.unsafe("a parameter of the query")
    }
    for (_, value) in headers where !value.isStreamSafe { throw Self.unsafe("a header field") }
  }

  /// The same of a page's form. Programs such as curl call any body a form, so who reads no forms does not ask.
  package func checkForm() throws(ServiceError) {
    for (name, value) in formFields where !(name.isStreamSafe && value.isStreamSafe) {
      throw Self.unsafe("a field of the form")
    }
  }

  private static func unsafe(_ part: String) -> ServiceError {
    ServiceError(.badRequest, "\(part) \(ServiceError.markRule)")
  }
}
