import CloudKit
import Synchronization

/// The expected pushes, the times of the saves, and the pushes that arrived.
final class Ledger: Sendable {
  private struct State {
    /// By subscription ID, the records that are still to be pushed.
    var missing: [String: Set<String>]
    var unexpected: [String] = []
    var arrivals: [(record: String, arrival: Date)] = []
    var savedAt: [String: (call: Date, reply: Date)] = [:]
    var lastArrival = Date()
  }

  private let state: Mutex<State>
  let expectedCount: Int

  init(expected: [String: [String]]) {
    let missing = expected.mapValues { Set($0) }
    state = Mutex(State(missing: missing))
    expectedCount = missing.values.reduce(0) { $0 + $1.count }
  }

  func saved(_ records: some Sequence<String>, call: Date, reply: Date) {
    state.withLock { state in
      for record in records { state.savedAt[record] = (call, reply) }
    }
  }

  /// Books an arrival; answers what is wrong with it, nil when it was expected.
  func arrived(subscriptionID: String, record: String, at arrival: Date) -> String? {
    state.withLock { state in
      state.lastArrival = Date()
      guard state.missing[subscriptionID]?.remove(record) != nil else {
        let complaint = "\(record) for \(subscriptionID) was not expected, or came before"
        state.unexpected.append(complaint)
        return complaint
      }
      state.arrivals.append((record, arrival))
      return nil
    }
  }

  var arrivedCount: Int { state.withLock { $0.arrivals.count } }
  var unexpected: [String] { state.withLock { $0.unexpected } }

  var missing: [String] {
    state.withLock { state in
      state.missing.flatMap { id, records in records.map { "\($0) for \(id)" } }.sorted()
    }
  }

  /// Seconds since the last arrival.
  var quietTime: TimeInterval { state.withLock { -$0.lastArrival.timeIntervalSinceNow } }

  /// Seconds from the call and from the reply of each save to the arrival of its pushes, sorted. A
  /// push that was there before the reply had been read counts as 0 from the reply.
  var delays: (fromCall: [Double], fromReply: [Double]) {
    state.withLock { state in
      var fromCall: [Double] = []
      var fromReply: [Double] = []
      for (record, arrival) in state.arrivals {
        guard let times = state.savedAt[record] else { continue }
        fromCall.append(arrival.timeIntervalSince(times.call))
        fromReply.append(max(0, arrival.timeIntervalSince(times.reply)))
      }
      return (fromCall.sorted(), fromReply.sorted())
    }
  }
}
