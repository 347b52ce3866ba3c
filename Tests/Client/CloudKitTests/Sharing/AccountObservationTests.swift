import Testing
import WebServices

@testable import CloudKit

struct AccountObservationTests {
  @Test("Only a change counts, not the first thing that is known")
  func changes() {
    var observation = AccountObservation()
    let events: [AccountObservation.Event] = [
      .noAccount, .noAccount, .available, .available, .noAccount,
    ]
    let changes = events.map { observation.handle($0) }
    #expect(changes == [false, false, true, false, true])
  }

  @Test("Answers that do not depend on the account say nothing")
  func answers() {
    typealias Event = AccountObservation.Event
    let ok = TransportResponse(status: 200, body: Data("{}".utf8))
    #expect(Event(ok, hasToken: true) == .available)
    #expect(Event(ok, hasToken: false) == nil)
    for code in [ServerErrorCode.authenticationFailed, .authenticationRequired] {
      let refusal = TransportResponse(
        status: code.httpStatus, body: ServiceError(code, "no").body)
      #expect(Event(refusal, hasToken: true) == .noAccount)
    }
    let busy = ServiceError(.tryAgainLater, "busy")
    #expect(Event(TransportResponse(status: 503, body: busy.body), hasToken: true) == nil)
    // A proxy's refusal is not the service's.
    #expect(Event(TransportResponse(status: 401, body: Data()), hasToken: true) == nil)
  }
}
