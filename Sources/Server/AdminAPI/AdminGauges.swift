import ChangeDispatch
import CloudKitModel
import DatabaseAPI
import HTTPService
import Synchronization

/// The numbers of a running server, in one place for who looks at it.
package final class AdminGauges: Sendable {
  private let dispatch: @Sendable () -> Dispatcher.Metrics
  private let delivery: @Sendable () -> DeliveryWorker.Metrics
  private let requests: @Sendable () -> RequestMetrics
  private let http = Mutex<(@Sendable () -> HTTPServer.Metrics?)?>(nil)

  package init(
    dispatch: @escaping @Sendable () -> Dispatcher.Metrics,
    delivery: @escaping @Sendable () -> DeliveryWorker.Metrics,
    requests: @escaping @Sendable () -> RequestMetrics
  ) {
    self.dispatch = dispatch
    self.delivery = delivery
    self.requests = requests
  }

  /// The HTTP server in front, where there is one.
  func watch(_ metrics: @escaping @Sendable () -> HTTPServer.Metrics?) {
    http.withLock { $0 = metrics }
  }

  /// - Parameter delays: seconds from the commit of a change to its entry in the log, of the latest.
  func overview(at now: Timestamp, delays: [Double]) -> Overview {
    Overview(
      time: now, dispatch: dispatch(), delivery: delivery(), requests: requests(),
      http: http.withLock { $0 }?(), delays: delays.sorted())
  }
}
