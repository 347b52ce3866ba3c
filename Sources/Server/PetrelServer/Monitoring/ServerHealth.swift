import ChangeDispatch
import StoreModel
import Synchronization

/// Whether the server lives, and whether it should be sent requests.
final class ServerHealth: Sendable {
  /// With less free than this a write-ahead log may not fit any more.
  static let leastFreeBytes = 64 << 20

  private let store: any StoreHealth
  private let probe: StoreProbe
  /// A transaction that takes longer, in seconds, does not end any more.
  private let longestTransaction: Double
  private let dispatchFault: @Sendable () -> String?
  private let draining = Atomic(false)

  init(
    store: any StoreHealth, probe: StoreProbe, longestTransaction: Double = 60,
    dispatchFault: @escaping @Sendable () -> String?
  ) {
    self.longestTransaction = longestTransaction
    self.store = store
    self.probe = probe
    self.dispatchFault = dispatchFault
  }

  /// From now on the server wants no new requests.
  func drain() { draining.store(true, ordering: .relaxed) }

  /// Whether it is worth to let the process live. That there is an answer shows that requests are read
  /// and handled.
  func live() -> HealthReport {
    let seconds = store.metrics.secondsInTransaction ?? 0
    return HealthReport(checks: [
      .init(
        name: "writer",
        trouble: seconds < longestTransaction
          ? nil : "a transaction has not ended for \(Int(seconds)) s")
    ])
  }

  /// Whether requests should be sent to it.
  func ready() async -> HealthReport {
    let free = await store.fileSizes()?.free
    return HealthReport(checks: [
      .init(
        name: "serving",
        trouble: draining.load(ordering: .relaxed) ? "the server is about to stop" : nil),
      .init(
        name: "store", trouble: await probe.trouble(), warning: store.metrics.foundDamage),
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
