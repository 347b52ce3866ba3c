import ChangeDispatch
import CloudKitModel
import DatabaseAPI
import HTTPService
import Synchronization

/// The metrics of a running server, gathered for the admin API.
///
/// The object stores closures, so each call of ``overview(at:delays:)`` reads the current values.
/// The closure for the HTTP server is set later than the others, because the HTTP server is created
/// last. A `Mutex` protects this closure.
package final class AdminGauges: Sendable {
  private let dispatch: @Sendable () -> Dispatcher.Metrics
  private let delivery: @Sendable () -> DeliveryWorker.Metrics
  private let requests: @Sendable () -> RequestMetrics
  private let http = Mutex(HTTPGauge())

  /// The closure that reads the HTTP server's metrics.
  ///
  /// Swift wraps a closure that is the value of a generic lock once more at each access. In a struct, it
  /// stays as it is.
  private struct HTTPGauge {
    var read: (@Sendable () -> HTTPServer.Metrics?)?
  }

  /// Creates the gauges of a server that has no HTTP server yet.
  ///
  /// - Parameters:
  ///   - dispatch: reads the dispatcher's metrics.
  ///   - delivery: reads the delivery worker's metrics.
  ///   - requests: reads the counts of failed requests.
  package init(
    dispatch: @escaping @Sendable () -> Dispatcher.Metrics,
    delivery: @escaping @Sendable () -> DeliveryWorker.Metrics,
    requests: @escaping @Sendable () -> RequestMetrics
  ) {
    self.dispatch = dispatch
    self.delivery = delivery
    self.requests = requests
  }

  /// Sets the closure that reads the HTTP server's metrics. The closure returns nil while no HTTP
  /// server runs.
  func watch(_ metrics: @escaping @Sendable () -> HTTPServer.Metrics?) {
    http.withLock { $0.read = metrics }
  }

  /// Returns the current metrics.
  ///
  /// - Parameters:
  ///   - now: the time of the returned sample.
  ///   - delays: the seconds from the commit of each recent change to its entry in the notification
  ///     log, in any order.
  func overview(at now: Timestamp, delays: [Double]) -> Overview {
    Overview(
      time: now, dispatch: dispatch(), delivery: delivery(), requests: requests(),
      http: http.withLock { $0 }.read?(), delays: delays.sorted())
  }
}
