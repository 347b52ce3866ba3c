import ChangeDispatch
import CloudKitModel
import DatabaseAPI
import HTTPService
import JSONCoding
import WebServices

/// The metrics of a running server at one moment: the answer of `overview`, and a sample in the
/// event stream.
///
/// Most members count events since the start of the server. The difference of two such counts,
/// divided by the time between their samples, is a rate.
struct Overview: Sendable {
  var time: Timestamp
  var dispatch: Dispatcher.Metrics
  var delivery: DeliveryWorker.Metrics
  var requests: RequestMetrics
  var http: HTTPServer.Metrics?
  /// The seconds from commit to log entry of each recent change, in ascending order.
  var delays: [Double]

  /// The answer's shape. The member `delay` is missing if there were no recent notifications.
  static let shape = AnswerShape<Overview>("Overview") { overview in
    overview.member("time") { $0.time }
    overview.object("changes", changes) { $0.dispatch }
    overview.object("matching", matching) { $0.dispatch }
    overview.object("notifications", notifications) { $0.dispatch }
    overview.object("pushes", pushes) { $0.delivery }
    overview.object("indexes", indexes) { $0.dispatch }
    overview.object("requests", requests) { $0 }
    overview.optional("delay", delay) { $0.delays.isEmpty ? nil : $0.delays }
  }

  private static let changes = AnswerShape<Dispatcher.Metrics> { dispatch in
    dispatch.member("dispatched", as: .count) { $0.dispatchedChanges }
    dispatch.member("waiting", as: .count) { $0.waitingChanges }
    dispatch.member("failures", as: .count) { $0.failures }
  }

  /// The shape of the matching counts. A candidate is a query subscription that the subscription
  /// index selected for a change, so the dispatcher tested its filters. The fraction of candidates
  /// that fired shows how selective the index is.
  private static let matching = AnswerShape<Dispatcher.Metrics> { dispatch in
    dispatch.member("candidates", as: .count) { $0.candidates }
    dispatch.member("fired", as: .count) { $0.firedCandidates }
  }

  private static let notifications = AnswerShape<Dispatcher.Metrics> { dispatch in
    dispatch.member("logged", as: .count) { $0.loggedNotifications }
    dispatch.member("withheld", as: .count) { $0.withheldNotifications }
  }

  private static let indexes = AnswerShape<Dispatcher.Metrics> { dispatch in
    dispatch.member("count", as: .count) { $0.indexes }
    dispatch.member("bytes", as: .count) { $0.indexBytes }
  }

  /// The shape of the delivery counts. `underWay`, `waiting` and `restingRoutes` are present
  /// numbers. A route is paused for a while after it failed.
  private static let pushes = AnswerShape<DeliveryWorker.Metrics> { delivery in
    delivery.member("delivered", as: .count) { $0.delivered }
    delivery.member("merged", as: .count) { $0.merged }
    delivery.member("retried", as: .count) { $0.retried }
    delivery.member("postponed", as: .count) { $0.postponed }
    delivery.member("abandoned", as: .count) { $0.abandoned }
    delivery.member("expired", as: .count) { $0.expired }
    delivery.member("refused", as: .count) { $0.refused }
    delivery.member("underWay", as: .count) { $0.underWay }
    delivery.member("waiting", as: .count) { $0.waiting }
    delivery.member("restingRoutes", as: .count) { $0.pausedRoutes }
  }

  /// The shape of the request counts. `served`, `underWay` and `connections` are missing if no HTTP
  /// server runs. `errors` counts failed requests and failed items by error code.
  private static let requests = AnswerShape<Overview> { overview in
    overview.optional("served", as: .count) { $0.http?.requestsServed }
    overview.optional("underWay", as: .count) { $0.http?.requestsUnderWay }
    overview.optional("connections", as: .count) { $0.http?.openConnections }
    overview.member("failed", as: .count) { $0.requests.failed.values.reduce(0, +) }
    overview.member("failedItems", as: .count) { $0.requests.failedItems.values.reduce(0, +) }
    overview.map("errors", as: .count) { overview in
      let errors = overview.requests.failed.merging(overview.requests.failedItems) { $0 + $1 }
      return Dictionary(uniqueKeysWithValues: errors.map { ($0.key.rawValue, $0.value) })
    }
  }

  /// The shape of the delays: the median and the 99th percentile, in seconds.
  private static let delay = AnswerShape<[Double]> { delays in
    delays.member("median") { $0[$0.count / 2] }
    delays.member("p99") { $0[min($0.count - 1, $0.count * 99 / 100)] }
  }
}
