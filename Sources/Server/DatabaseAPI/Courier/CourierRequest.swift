import HTTPService
import Synchronization

/// A request for the web courier's path, whose answer may have to wait for a notification.
///
/// A task keeps the memory of its deepest call until the task ends, and thousands of these requests
/// wait at once. Therefore each step of a request runs in a task of its own, which ends before the
/// wait.
package final class CourierRequest: Sendable {
  /// The request.
  let http: HTTPRequest
  /// The router that executes the steps.
  private let router: RequestRouter
  /// The result of the last search, behind a lock.
  private let lastLook = Mutex<WebCourier.Look?>(nil)

  /// Creates a request without executing it; see ``answer()``.
  package init(_ http: HTTPRequest, router: RequestRouter) {
    self.http = http
    self.router = router
  }

  /// The result of the last search in the notification log; nil before the first search. While the
  /// request keeps it, a new notification ends the wait for the next search.
  var look: WebCourier.Look? {
    get { lastLook.withLock { $0 } }
    set { lastLook.withLock { $0 = newValue } }
  }

  /// Answers the request when there is a notification, when the poll time is over, or when the task
  /// is cancelled.
  ///
  /// A request for an event stream is answered at once. A cancelled request gets an empty answer,
  /// which nobody reads. The reader's next poll then gets the notification again.
  package func answer() async -> HTTPResponse {
    while true {
      let response = await router.courier.queue.serve { await self.router.courierAnswer(to: self) }
      // The reader has disconnected and gets no answer, so the next poll must not acknowledge the
      // notification.
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
