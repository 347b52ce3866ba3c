import CloudKit
import Testing

struct ErrorDescriptionTests {
  @Test("an error prints its code, the code's number and its reason")
  func printsReason() {
    let error = CKError(
      .notAuthenticated, userInfo: [NSLocalizedDescriptionKey: "the token has expired"])
    #expect("\(error)" == #"<CKError: notAuthenticated (9); "the token has expired">"#)
    #expect(String(describing: error as any Error) == error.description)
  }
}
