import CloudKitModel
import Foundation
import PushChannels
import Storage
import StoreModel
import Synchronization
import Waiting

@testable import ChangeDispatch

/// A way to devices whose answers a test gives.
final class ScriptedRoute: Sendable {
  typealias Callback = @Sendable (PushAnswer) -> Void

  private struct State {
    var pushes: [Push] = []
    var held: [(Push, Callback)] = []
    var mostHeld = 0
  }

  private let state = Mutex(State())
  private let answer: @Sendable (Push, Int) -> PushAnswer?

  /// - Parameter answer: the answer to a push, given how often it was sent before; nil to hold it.
  init(_ answer: @escaping @Sendable (Push, Int) -> PushAnswer?) {
    self.answer = answer
  }

  var pushes: [Push] { state.withLock { $0.pushes } }
  var heldCount: Int { state.withLock { $0.held.count } }
  /// The most pushes that were ever held at once.
  var mostHeld: Int { state.withLock { $0.mostHeld } }

  var route: PushRoute {
    PushRoute(topic: "com.example.app") { push, callback in
      let result = self.state.withLock { state -> PushAnswer? in
        let before = state.pushes.count { $0.identifier == push.identifier }
        state.pushes.append(push)
        let result = self.answer(push, before)
        if result == nil {
          state.held.append((push, callback))
          state.mostHeld = max(state.mostHeld, state.held.count)
        }
        return result
      }
      if let result { callback(result) }
    }
  }

  /// Answers all that is held.
  func release(_ result: PushAnswer = .accepted) {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for (_, callback) in held { callback(result) }
  }
}

extension PushAnswer {
  static let accepted = apns(200)
}

/// A clock that tests move; it begins at ``DispatchWorld/start``.
final class TestClock: Sendable {
  private let now = Mutex(DispatchWorld.start)

  var time: Timestamp { now.withLock { $0 } }
  var read: @Sendable () -> Timestamp { { self.time } }
  func advance(bySeconds seconds: Double) {
    now.withLock { $0 = $0.advanced(bySeconds: seconds) }
  }
}

/// A worker over a world's store, with its clock, its route and what it reported.
final class RunningWorker: Sendable {
  let worker: DeliveryWorker
  let clock: TestClock
  let reports = Box<[WorkReport]>([])

  init(
    _ store: any DeliveryQueue, clock: TestClock, route: ScriptedRoute?, capacity: Int = 100,
    stopTime: Double = 20, _ configure: (inout DeliveryWorker.Configuration) -> Void = { _ in }
  ) {
    self.clock = clock
    var configuration = DeliveryWorker.Configuration()
    configuration.capacity = capacity
    configuration.updateBatchSize = 7
    configuration.stopTime = stopTime
    configure(&configuration)
    worker = DeliveryWorker(
      store: store, configuration: configuration, clock: clock.read, random: { 0 },
      report: { [reports] line in reports.value.withLock { $0.append(line) } },
      route: { _ in route?.route })
    worker.start()
  }

  var reported: [WorkReport] { reports.value.withLock { $0 } }
  var reportLines: [String] { reported.map(\.description) }
}

extension DispatchWorld {
  static let deviceToken = String(repeating: "ab", count: 32)

  /// Registers Alice's device and logs `count` notifications for it.
  ///
  /// - Parameters:
  ///   - visible: whether they show an alert.
  ///   - worker: gets those for which it has room; without it all wait in the store.
  @discardableResult
  func owe(
    _ count: Int, to token: String = deviceToken, subscription subscriptionID: String = "s",
    visible: Bool = true, alert: String = "New", registers: Bool = true, collapseID: String? = nil,
    worker: DeliveryWorker? = nil
  ) async throws -> [Delivery] {
    if registers { try await register(token) }
    return try await notify(
      count, subscription: subscriptionID, visible: visible, alert: alert, collapseID: collapseID,
      worker: worker
    ).deliveries
  }

  /// Logs `count` notifications of one subscription for all of Alice's devices.
  func notify(
    _ count: Int, subscription subscriptionID: String, visible: Bool, alert: String = "New",
    collapseID: String?, worker: DeliveryWorker?, at time: Timestamp = start
  ) async throws -> DispatchResult {
    var subscription = Self.query(subscriptionID)
    if visible {
      var info = NotificationInfo()
      info.alertBody = alert
      info.collapseIDKey = collapseID
      subscription.notificationInfo = info
    }
    try await subscribe(subscription)
    for _ in 0..<count { try await save("n-\(UUID().uuidString)") }
    let entries = try await store.outbox.undispatchedChanges(
      in: .whole(publicID), after: .min, limit: 10_000)
    let firing = try await store.subscriptions.subscriptionChanges(
      in: .whole(publicID), since: .beginning, limit: 10_000
    ).saved.filter { $0.subscription.subscriptionID == subscriptionID }
    if let worker {
      try await eventually("the worker has looked at what there is") { worker.isPrepared }
    }
    let result = try await store.outbox.completeDispatch(
      of: entries.map { MatchedChange(entry: $0, firings: firing) }, timestamp: time,
      leasing: worker?.capacity())
    worker?.enqueue(result.deliveries, waiting: result.waiting)
    return result
  }

  /// When the next delivery on any route is due.
  func nextDeliveryTime(after timestamp: Timestamp) async throws -> Timestamp? {
    var next: Timestamp?
    for route in try await store.deliveries.deliveryRoutes().keys {
      let due = try await store.deliveries.nextDeliveryTime(on: route, after: timestamp, for: 0)
      next = [next, due].compactMap(\.self).min()
    }
    return next
  }

  /// Deliveries without a final outcome, whenever they are due.
  func owed() async throws -> [Delivery] {
    try await store.deliveries.dueDeliveries(at: Timestamp(milliseconds: .max), limit: 10_000)
  }
}
