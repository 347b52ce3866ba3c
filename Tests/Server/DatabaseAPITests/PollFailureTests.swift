import StoreModel
import Testing
import WebServices

@testable import DatabaseAPI

struct PollFailureTests {
  @Test(
    "a poll that fails with its store is answered with 503, also when a commit's outcome is unknown",
    arguments: [StoreError.Code.outcomeUnknown, .unreachable, .overloaded, .diskFailed])
  func unavailable(code: StoreError.Code) {
    let failure = ServiceError(ofPoll: StoreError(code, "the cable is out"))
    #expect(failure.code == .tryAgainLater)
    #expect(failure.code.httpStatus == 503)
    #expect(failure.retryAfter != nil)
    #expect(!failure.reason.contains("cable"))
  }

  @Test("other failures of a poll stay what they are")
  func others() {
    #expect(ServiceError(ofPoll: StoreError(.corrupt, "x")).code.httpStatus == 500)
    #expect(ServiceError(ofPoll: ServiceError(.badRequest, "x")).code == .badRequest)
  }
}
