import Synchronization

/// The counters of a running server, usable from any thread. ``HTTPServer/Metrics`` explains them.
final class Counters: Sendable {
  let openConnections = Atomic(0)
  let connectionsEvicted = Atomic(0)
  let requestsUnderWay = Atomic(0)
  let requestsServed = Atomic(0)
  let requestsBroken = Atomic(0)
  /// The requests whose head was read and that have not ended, including refused ones. A server
  /// that stops waits until it is zero.
  let exchanges = Atomic(0)
  private let refused = Mutex<[HTTPRefusal.Reason: Int]>([:])

  func countRefusal(_ reason: HTTPRefusal.Reason) {
    refused.withLock { $0[reason, default: 0] += 1 }
  }

  /// Reads the present values one after the other.
  func snapshot(bufferedBytes: Int, spooledBytes: Int) -> HTTPServer.Metrics {
    let refused = refused.withLock { $0 }
    return HTTPServer.Metrics(
      openConnections: openConnections.load(ordering: .relaxed),
      connectionsEvicted: connectionsEvicted.load(ordering: .relaxed),
      requestsUnderWay: requestsUnderWay.load(ordering: .relaxed),
      bufferedBytes: bufferedBytes, spooledBytes: spooledBytes,
      requestsServed: requestsServed.load(ordering: .relaxed),
      requestsBroken: requestsBroken.load(ordering: .relaxed),
      refused: Dictionary(
        uniqueKeysWithValues: HTTPRefusal.Reason.allCases.map { ($0, refused[$0] ?? 0) }))
  }
}

extension Atomic where Value == Int {
  func add(_ amount: Int) -> Int {
    wrappingAdd(amount, ordering: .sequentiallyConsistent).newValue
  }

  func increment() { _ = add(1) }
  func decrement() { _ = add(-1) }

  /// Adds `amount`, unless the sum would be above `limit`. Returns whether it did.
  func reserve(_ amount: Int, limit: Int) -> Bool {
    if add(amount) <= limit { return true }
    _ = add(-amount)
    return false
  }
}
