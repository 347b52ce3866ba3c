import ChangeDispatch
import CloudKitModel
import DatabaseAPI
import HTTPService
import JSONCoding
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

  /// Writes the members of a sample. Counts are since the start; their differences are rates.
  ///
  /// - Parameter delays: seconds from the commit of a change to its entry in the log, of the latest.
  func write(to writer: inout JSONWriter, at now: Timestamp, delays: [Double]) {
    let dispatch = dispatch()
    let delivery = delivery()
    let requests = requests()
    writer.member("time", now)
    writer.key("changes")
    writer.object { writer in
      writer.member("dispatched", dispatch.dispatchedChanges)
      writer.member("waiting", dispatch.waitingChanges)
      writer.member("failures", dispatch.failures)
    }
    writer.key("matching")
    writer.object { writer in
      writer.member("candidates", dispatch.candidates)
      writer.member("fired", dispatch.firedCandidates)
    }
    writer.key("notifications")
    writer.object { writer in
      writer.member("logged", dispatch.loggedNotifications)
      writer.member("withheld", dispatch.withheldNotifications)
    }
    writer.key("pushes")
    writer.object { writer in
      writer.member("delivered", delivery.delivered)
      writer.member("merged", delivery.merged)
      writer.member("retried", delivery.retried)
      writer.member("postponed", delivery.postponed)
      writer.member("abandoned", delivery.abandoned)
      writer.member("expired", delivery.expired)
      writer.member("refused", delivery.refused)
      writer.member("underWay", delivery.underWay)
      writer.member("waiting", delivery.waiting)
      writer.member("restingRoutes", delivery.restingRoutes)
    }
    writer.key("indexes")
    writer.object { writer in
      writer.member("count", dispatch.indexes)
      writer.member("bytes", dispatch.indexBytes)
    }
    writer.key("requests")
    writer.object { writer in
      if let http = http.withLock({ $0 })?() {
        writer.member("served", http.requestsServed)
        writer.member("underWay", http.requestsUnderWay)
        writer.member("connections", http.openConnections)
      }
      writer.member("failed", requests.failed.values.reduce(0, +))
      writer.member("failedItems", requests.failedItems.values.reduce(0, +))
      writer.key("errors")
      writer.object { writer in
        var errors = requests.failed
        errors.merge(requests.failedItems) { $0 + $1 }
        for (code, count) in errors.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
          writer.member(code.rawValue, count)
        }
      }
    }
    guard !delays.isEmpty else { return }
    let sorted = delays.sorted()
    writer.key("delay")
    writer.object { writer in
      writer.member("median", sorted[sorted.count / 2])
      writer.member("p99", sorted[min(sorted.count - 1, sorted.count * 99 / 100)])
    }
  }
}
