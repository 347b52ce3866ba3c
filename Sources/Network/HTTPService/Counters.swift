import Synchronization

/// What is counted while the server runs.
final class Counters: Sendable {
  let openConnections = Atomic(0)
  let connectionsEvicted = Atomic(0)
  let requestsUnderWay = Atomic(0)
  let bufferedBytes = Atomic(0)
  let spooledBytes = Atomic(0)
  let requestsServed = Atomic(0)
  let requestsBroken = Atomic(0)
  /// Requests whose headers were read and which have not ended, refused ones included.
  let exchanges = Atomic(0)
  private let refused = Mutex<[HTTPRefusal.Reason: Int]>([:])

  func countRefusal(_ reason: HTTPRefusal.Reason) {
    refused.withLock { $0[reason, default: 0] += 1 }
  }

  func snapshot() -> HTTPServer.Metrics {
    let refused = refused.withLock { $0 }
    return HTTPServer.Metrics(
      openConnections: openConnections.load(ordering: .relaxed),
      connectionsEvicted: connectionsEvicted.load(ordering: .relaxed),
      requestsUnderWay: requestsUnderWay.load(ordering: .relaxed),
      bufferedBytes: bufferedBytes.load(ordering: .relaxed),
      spooledBytes: spooledBytes.load(ordering: .relaxed),
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

  /// Adds, unless the sum would be above `limit`; tells whether it did.
  func reserve(_ amount: Int, limit: Int) -> Bool {
    if add(amount) <= limit { return true }
    _ = add(-amount)
    return false
  }
}
