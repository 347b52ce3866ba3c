import HTTPService
import StoreModel
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

  /// The key of the queue in which the request waits: a user of the reader, or the token that is not
  /// looked up yet.
  private var caller: String {
    look?.reader.userRecordNames.min() ?? http.query("tok") ?? ""
  }

  /// Answers the request when there is a notification, when the poll time is over, or when the task
  /// is cancelled. A request for an event stream is answered at once.
  package func answer() async -> HTTPResponse {
    while true {
      let response = await router.courier.queue.serve(for: caller) {
        await self.router.courierAnswer(to: self)
      }
      if let response { return response }
      // Nobody reads the answer to a cancelled request.
      if Task.isCancelled { return HTTPResponse() }
      await look?.wait()
    }
  }

  /// Deletes the stored answer with this notification, because it was not sent. The reader's next poll
  /// at this server waits for the deletion, and gets the notification again.
  func withdraw(_ entry: LogEntry, forToken token: String) {
    router.courier.withdrawals.withLock { withdrawals in
      withdrawals[token] = Task { [router] in
        await router.courier.queue.serve(for: token) {
          await router.withdrawCourierAnswer(entry, forToken: token, of: self)
        }
        router.courier.withdrawals.withLock { $0[token] = nil }
      }
    }
  }
}
