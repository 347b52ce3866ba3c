import CloudKitModel
import HTTPService
import WebServices

extension HTTPRequest {
  /// Checks that the path, the query and the header fields are stream-safe, so that the server may
  /// compare and hash them.
  ///
  /// Swift normalizes a text when it compares or hashes the text. For a run of *n* combining marks
  /// (accents and the like), this takes time in *n*². A stream-safe text has no run of more than 30
  /// marks (Unicode Standard Annex #15). The texts of the body are checked by the code that reads
  /// the body.
  ///
  /// - Throws: `BAD_REQUEST` with the name of the part that is not stream-safe.
  /// - Complexity: linear in the size of the path, the query and the header fields.
  package func checkTexts() throws(ServiceError) {
    guard path.isStreamSafe else { throw Self.unsafe("the path") }
    for (name, value) in query where !(name.isStreamSafe && value.isStreamSafe) {
      throw Self.unsafe("a parameter of the query")
    }
    for (_, value) in headers where !value.isStreamSafe { throw Self.unsafe("a header field") }
  }

  /// Checks that the fields of a page's form are stream-safe.
  ///
  /// Only the sign-in page, the pages of shares and the console read forms. Other paths do not call this, because
  /// programs such as curl send bodies of any kind with the content type of a form.
  ///
  /// - Throws: `BAD_REQUEST` if the name or the value of a field is not stream-safe.
  package func checkForm() throws(ServiceError) {
    for (name, value) in formFields where !(name.isStreamSafe && value.isStreamSafe) {
      throw Self.unsafe("a field of the form")
    }
  }

  private static func unsafe(_ part: String) -> ServiceError {
    ServiceError(.badRequest, "\(part) \(ServiceError.markRule)")
  }
}
