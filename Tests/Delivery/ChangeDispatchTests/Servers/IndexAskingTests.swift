import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch

struct IndexAskingTests {
  private typealias World = DispatchWorld

  private func change(_ value: Int64) -> Change {
    Change(
      event: .recordCreated, zoneID: .default,
      record: Record(
        recordID: RecordID(recordName: "x"), recordType: "Note", fields: ["a": .int64(value)]),
      notificationID: UUID(), timestamp: World.start)
  }

  @Test("it tells what fits, some by name and all by number, and nothing is dispatched")
  func tells() async throws {
    try await withWorld { world in
      for number in 0..<30 {
        try await world.subscribe(
          World.query(
            "s\(number)",
            filters: [Filter(.field("a"), .lessThan, .int64(Int64(number)))]))
      }
      let running = RunningDispatcher(DispatchStore(world.store))
      let found = try await running.dispatcher.subscriptions(
        fitting: change(19), in: world.publicID, atMost: 4)
      #expect(found?.count == 10)
      #expect(found?.names.count == 4)
      let fitting = Set((20..<30).map { "s\($0)" })
      #expect(found?.names.allSatisfy { fitting.contains($0.subscriptionID) } == true)
      // One that was saved since counts.
      try await world.subscribe(World.query("late"))
      let after = try await running.dispatcher.subscriptions(
        fitting: change(19), in: world.publicID, atMost: 100)
      #expect(after?.count == 11)
      #expect(after?.names.map(\.subscriptionID) == (fitting.union(["late"])).sorted())
      await running.dispatcher.stop()
      #expect(running.lines == [])
    }
  }

  @Test("who asks while the index is in use gets no answer, and dispatching goes on")
  func doesNotWaitForEver() async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("s"))
      let gate = Gate()
      var hooks = DispatchHooks()
      hooks.beforeSubscriptionReading = { _ in await gate.pass() }
      let running = RunningDispatcher(hooks.around(world.store))
      try await world.save("a")
      try await eventually("the index must be in use") { gate.arrived > 0 }
      let found = try await running.dispatcher.subscriptions(
        fitting: change(1), in: world.publicID, atMost: 10)
      #expect(found == nil)
      gate.open()
      await running.dispatcher.settled()
      #expect(running.lines == ["s a"])
      let later = try await running.dispatcher.subscriptions(
        fitting: change(1), in: world.publicID, atMost: 10)
      #expect(later?.count == 1)
      await running.dispatcher.stop()
    }
  }

  @Test("those who use an index come one at a time, and who gives up is passed over")
  func holds() {
    var holds = IndexHolds()
    let (one, other) = (
      DatabasePart.whole(DatabaseID(rawValue: 1)), DatabasePart.whole(DatabaseID(rawValue: 2))
    )
    var told: [String] = []
    let taken = [holds.take(one), holds.take(other), holds.take(one)]
    #expect(taken == [true, true, false])
    let numbers = ["a", "b", "c"].map { name in
      holds.wait(for: one) { told.append("\(name) \($0)") }
    }
    holds.giveUp(numbers[1], waitingFor: one)?()
    let again = holds.giveUp(numbers[1], waitingFor: one)
    #expect(again == nil)
    for _ in 0..<2 { holds.end(one)?() }
    #expect(told == ["b false", "a true", "c true"])
    let isFree = holds.take(one)
    #expect(!isFree, "the last one has it still")
    let next = holds.end(one)
    #expect(next == nil)
    let isFreeAtLast = holds.take(one)
    #expect(isFreeAtLast)
  }
}
