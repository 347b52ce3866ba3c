import ChangeDispatch
import Concurrency
import Storage
import StoreModel
import Synchronization

/// The health checks of a server. They answer two questions: would a restart of the process help,
/// and should clients' requests be sent to this server?
final class ServerHealth: Sendable {
  /// The free space on the store's disk, in bytes, below which the server is not ready. With less
  /// space, the write-ahead log may not fit.
  static let leastFreeBytes = 64 << 20

  private let store: Store
  private let probe: StoreProbe
  private let reach: StoreProbe
  /// The time in seconds after which a transaction counts as stuck.
  private let longestTransaction: Double
  /// Returns the fault that prevents the dispatcher from dispatching; nil if there is none.
  private let dispatchFault: @Sendable () -> String?
  private let draining = Atomic(false)

  /// Creates the checks: `probe` whether the store can write, `reach` whether it can be reached.
  init(
    store: Store, probe: StoreProbe, reach: StoreProbe, longestTransaction: Double = 60,
    dispatchFault: @escaping @Sendable () -> String?
  ) {
    self.longestTransaction = longestTransaction
    self.store = store
    self.probe = probe
    self.reach = reach
    self.dispatchFault = dispatchFault
  }

  var jobs: [BackgroundJob] { [reach.job, probe.job] }

  /// Makes ``ready()`` report that the server is about to stop. The server still accepts requests.
  func drain() { draining.store(true, ordering: .relaxed) }

  /// Returns the report for `/health/live`. A bad report means that a restart of the process may
  /// help.
  ///
  /// An answer to this request already shows that the server reads and answers requests. The only
  /// other check is the age of the store's transaction.
  func live() -> HealthReport {
    let seconds = store.metrics.secondsInTransaction ?? 0
    return HealthReport(checks: [
      .init(
        name: "writer",
        trouble: seconds < longestTransaction
          ? nil : "a transaction has not ended for \(Int(seconds)) s")
    ])
  }

  /// Returns the report for `/health/ready`. A bad report means that no requests should be sent to
  /// this server.
  func ready() async -> HealthReport {
    // A write waits for others, so it finds out late that nothing answers.
    let trouble = if let trouble = await reach.trouble() { trouble } else { await probe.trouble() }
    let free = await store.fileSizes()?.free
    return HealthReport(checks: [
      .init(
        name: "serving",
        trouble: draining.load(ordering: .relaxed) ? "the server is about to stop" : nil),
      .init(
        name: "store", trouble: trouble, warning: store.metrics.foundDamage),
      .init(
        name: "disk",
        trouble: free.flatMap { free in
          free >= Self.leastFreeBytes
            ? nil : "\(free >> 20) MiB are free; there should be \(Self.leastFreeBytes >> 20)"
        }),
      .init(
        name: "dispatch", trouble: dispatchFault().map { "changes cannot be dispatched: \($0)" }),
    ])
  }
}
