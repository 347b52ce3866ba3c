import ChangeDispatch
import CloudKitModel
import Concurrency
import DatabaseAPI
import HTTPService
import Synchronization

/// The metrics of a running server, gathered for the admin API.
///
/// The object stores closures, so each call of ``overview(at:delays:)`` reads the current values.
/// What concerns the HTTP server is set later, because the HTTP server is created last.
package final class AdminGauges: Sendable {
  private let dispatch: @Sendable () -> Dispatcher.Metrics
  private let delivery: @Sendable () -> DeliveryWorker.Metrics
  private let requests: @Sendable () -> RequestMetrics
  private let server = Mutex(ServerGauges())

  /// The closures and jobs that are known when the server is complete.
  ///
  /// Swift wraps a closure that is the value of a generic lock once more at each access. In a struct, it
  /// stays as it is.
  private struct ServerGauges {
    var http: (@Sendable () -> HTTPServer.Metrics?)?
    var jobs: [BackgroundJob] = []
  }

  /// Creates the gauges of a server that has no HTTP server yet.
  package init(
    dispatch: @escaping @Sendable () -> Dispatcher.Metrics,
    delivery: @escaping @Sendable () -> DeliveryWorker.Metrics,
    requests: @escaping @Sendable () -> RequestMetrics
  ) {
    self.dispatch = dispatch
    self.delivery = delivery
    self.requests = requests
  }

  /// Adds what is known when the server is complete. `metrics` returns nil without an HTTP server.
  func watch(
    _ jobs: [BackgroundJob], _ metrics: @escaping @Sendable () -> HTTPServer.Metrics?
  ) {
    server.withLock { $0 = ServerGauges(http: metrics, jobs: jobs) }
  }

  var jobs: [BackgroundJob] { server.withLock { $0.jobs } }

  /// `delays` are the seconds from the commit of each recent change to its log entry, in any order.
  func overview(at now: Timestamp, delays: [Double]) -> Overview {
    Overview(
      time: now, dispatch: dispatch(), delivery: delivery(), requests: requests(),
      http: server.withLock { $0 }.http?(), delays: delays.sorted())
  }
}
