import HTTPService
import Synchronization

/// A request for the web courier's path, whose answer may have to be waited for.
///
/// A task keeps the room that its calls took until it ends, and thousands of these wait at once. So what
/// is done for one is done in tasks of their own, that end before it waits.
package final class CourierRequest: Sendable {
  let http: HTTPRequest
  private let router: RequestRouter
  private let lastLook = Mutex<WebCourier.Look?>(nil)

  package init(_ http: HTTPRequest, router: RequestRouter) {
    self.http = http
    self.router = router
  }

  /// The last look into the log, whose reader listens until the next one or the answer.
  var look: WebCourier.Look? {
    get { lastLook.withLock { $0 } }
    set { lastLook.withLock { $0 = newValue } }
  }

  package func answer() async -> HTTPResponse {
    while true {
      let response = await router.courier.queue.serve { await self.router.courierAnswer(to: self) }
      // A reader that has left gets no answer, so its next poll must not acknowledge one.
      if Task.isCancelled { return HTTPResponse() }
      if let response {
        let failure = await router.courier.queue.serve {
          await self.router.keepCourierAnswer(of: self)
        }
        if let failure { return failure }
        guard Task.isCancelled else { return response }
        await router.courier.queue.serve { await self.router.withdrawCourierAnswer(of: self) }
        return HTTPResponse()
      }
      await look?.wait()
    }
  }
}
