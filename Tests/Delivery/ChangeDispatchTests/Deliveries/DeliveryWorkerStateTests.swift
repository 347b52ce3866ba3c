import CloudKitModel
import StoreModel
import Testing

@testable import ChangeDispatch

struct DeliveryWorkerStateTests {
  @Test(
    "what would wait is merged into a newer one that was under way beside it",
    arguments: [
      .postponed(
        until: Timestamp(milliseconds: 9),
        reason: "the server has just sent a silent push to this device"),
      .retry(at: Timestamp(milliseconds: 9), reason: "503", wasSent: true),
    ] as [DeliveryUpdate.State])
  func putOffBesideNewer(putOff: DeliveryUpdate.State) {
    var state = DeliveryWorkerState(.init())
    let deliveries = DeliveryScheduleTests.deliveries(1...2)
    _ = state.withSchedule(of: deliveries[0].route) { $0.admit(deliveries) }
    func add(_ delivery: Delivery, _ outcome: DeliveryUpdate.State) -> DeliveryUpdate.State {
      let update = DeliveryUpdate(
        id: delivery.id, state: outcome, timestamp: Timestamp(milliseconds: 8))
      return state.add(.init(delivery: delivery, update: update))
    }
    #expect(add(deliveries[1], .delivered()) == .delivered())
    #expect(state.settle(state.outcomes[...], mergedBeside: 0).isEmpty)
    #expect(add(deliveries[0], putOff) == .merged(into: 2))
    #expect(state.outcomes.map(\.update.state) == [.merged(into: 2)])
    #expect(state.settle(state.outcomes[...], mergedBeside: 0).isEmpty)
    #expect(state.metrics == .init(delivered: 1, merged: 1))
    // Nothing newer is under way any more.
    _ = state.withSchedule(of: deliveries[0].route) { $0.admit([deliveries[0]]) }
    #expect(add(deliveries[0], putOff) == putOff)
  }

  @Test("a count is asked for again when something happened while the store was asked")
  func doubtfulCounts() throws {
    var state = DeliveryWorkerState(.init())
    state.beginCounting()
    // Two were delivered, which the store knows already.
    state.addOwed(-2)
    state.count(2)
    #expect(state.waitingCount == 0)
    #expect(state.recountPause() != nil)

    state.beginCounting()
    state.count(2)
    #expect(state.waitingCount == 2)
  }

  @Test("what happens after a count does not make it doubtful")
  func laterChanges() {
    var state = DeliveryWorkerState(.init())
    state.beginCounting()
    state.count(1)
    state.addOwed(2)
    state.addOwed(-3)
    #expect(state.waitingCount == 0)
    #expect(state.recountPause() == nil)
  }

  @Test("a count of nothing that nothing disturbed is not asked for again")
  func quietCounts() {
    var state = DeliveryWorkerState(.init())
    state.beginCounting()
    state.count(0)
    #expect(state.recountPause() == nil)
  }

  @Test("a count of something is asked for again, more and more rarely")
  func waiting() {
    var state = DeliveryWorkerState(.init())
    state.beginCounting()
    state.count(1)
    #expect((0..<9).map { _ in state.recountPause() } == [1, 2, 4, 8, 16, 32, 60, 60, 60])
    state.beginCounting()
    state.count(0)
    #expect(state.recountPause() == nil)
    state.beginCounting()
    state.count(1)
    #expect(state.recountPause() == 1)
  }

  @Test("deliveries may wait in the store until it was counted, and while the count is doubtful")
  func unknown() {
    var state = DeliveryWorkerState(.init())
    #expect(state.hasWaiting)
    state.beginCounting()
    #expect(state.hasWaiting)
    state.count(0)
    #expect(!state.hasWaiting)
    state.beginCounting()
    state.addOwed(1)
    state.addOwed(-1)
    state.count(0)
    #expect(state.hasWaiting)
  }
}
