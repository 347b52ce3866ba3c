import CloudKitModel
import Foundation
import Storage
import Testing

@testable import ChangeDispatch

@Suite("Handing changes over")
struct ChangeHandoverTests {
  @Test("after a start the outbox is read first")
  func startsBehind() {
    var state = ChangeHandover.State(capacity: 10)
    state.offer(Self.entries(1...2))
    guard case .catchUp = state.take(atMost: 10) else {
      Issue.record("expected to catch up")
      return
    }
  }

  @Test("changes come in the order of their commits, in batches")
  func keepsOrder() {
    var state = ChangeHandover.State(capacity: 10, isBehind: false)
    state.offer(Self.entries(1...2))
    state.offer(Self.entries(3...5))
    #expect(Self.sequences(state.take(atMost: 3)) == [1, 2, 3])
    #expect(Self.sequences(state.take(atMost: 3)) == [4, 5])
    #expect(state.take(atMost: 3) == nil)
  }

  @Test("a full queue gives what it took in, then asks to read the outbox")
  func fallsBehindWhenFull() {
    var state = ChangeHandover.State(capacity: 3, isBehind: false)
    state.offer(Self.entries(1...2))
    state.offer(Self.entries(3...4))
    state.offer(Self.entries(5...5))
    #expect(Self.sequences(state.take(atMost: 10)) == [1, 2])
    guard case .catchUp = state.take(atMost: 10) else {
      Issue.record("expected to catch up")
      return
    }
    state.beginCatchingUp()
    state.offer(Self.entries(6...6))
    #expect(Self.sequences(state.take(atMost: 10)) == [6])
  }

  @Test("a failure drops what waits, since the outbox holds it")
  func dropsAfterFailure() {
    var state = ChangeHandover.State(capacity: 3, isBehind: false)
    state.offer(Self.entries(1...2))
    state.fallBehind()
    guard case .catchUp = state.take(atMost: 10) else {
      Issue.record("expected to catch up")
      return
    }
  }

  @Test("stopping comes before all waiting changes")
  func stopsAtOnce() {
    var state = ChangeHandover.State(capacity: 3, isBehind: false)
    state.offer(Self.entries(1...2))
    state.stop()
    guard case .stop = state.take(atMost: 10) else {
      Issue.record("expected to stop")
      return
    }
  }

  @Test("a task that waits is woken by an offer")
  func wakes() async {
    let handover = ChangeHandover(capacity: 3)
    handover.beginCatchingUp()
    async let work = handover.next(atMost: 10)
    handover.offer(Self.entries(7...7))
    #expect(Self.sequences(await work) == [7])
  }

  private static func entries(_ sequences: ClosedRange<Int64>) -> [OutboxEntry] {
    sequences.map { sequence in
      OutboxEntry(
        database: DatabaseID(rawValue: 1), sequence: sequence, subscriptionVersion: 0,
        change: Change(
          event: .zoneCreated, zoneID: ZoneID(zoneName: "Notes"), record: nil,
          notificationID: UUID(), timestamp: Timestamp(milliseconds: 0)))
    }
  }

  private static func sequences(_ work: ChangeHandover.Work?) -> [Int64] {
    guard case .dispatch(let entries) = work else { return [] }
    return entries.map(\.sequence)
  }
}

extension ChangeHandover.Work: Equatable {
  public static func == (left: ChangeHandover.Work, right: ChangeHandover.Work) -> Bool {
    switch (left, right) {
    case (.dispatch(let left), .dispatch(let right)): left == right
    case (.catchUp, .catchUp), (.idle, .idle), (.stop, .stop): true
    default: false
    }
  }
}
