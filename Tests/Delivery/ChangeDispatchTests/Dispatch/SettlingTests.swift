import CloudKitModel
import Foundation
import PushChannels
import StoreModel
import Testing

@testable import ChangeDispatch

struct SettlingTests {
  private typealias World = DispatchWorld

  @Test("once the dispatcher is settled, all changes are dispatched and the outbox is empty")
  func dispatcherSettles() async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("s"))
      let running = RunningDispatcher(DispatchStore(world.store))
      for number in 0..<30 {
        // Every third fires nothing and leaves the outbox with a later transaction.
        try await world.save("r\(number)", type: number.isMultiple(of: 3) ? "Other" : "Note")
        if number.isMultiple(of: 10) {
          await running.dispatcher.settled()
          #expect(try await world.isDispatched)
        }
      }
      await running.dispatcher.settled()
      #expect(try await world.isDispatched)
      #expect(running.lines.count == 20)
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      await running.dispatcher.settled()
    }
  }

  @Test("changes that fired nothing are not held back while someone waits")
  func retiresAtOnce() async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("other", type: "Other"))
      let running = RunningDispatcher(DispatchStore(world.store)) { $0.retirementDelay = 3600 }
      try await world.save("silent")
      await running.dispatcher.settled()
      #expect(try await world.isDispatched)
      await running.dispatcher.stop()
    }
  }

  @Test("a settled dispatcher has given up nothing after a failure of the store")
  func settlesAfterFailure() async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("s"))
      let failures = Box(2)
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { _ in
        let fails = failures.value.withLock { count in
          count -= 1
          return count >= 0
        }
        if fails { throw StoreError(.statementFailed, "on purpose") }
      }
      let running = RunningDispatcher(hooks.around(world.store))
      try await world.save("r")
      await running.dispatcher.settled()
      #expect(running.lines == ["s r"])
      await running.dispatcher.stop()
    }
  }

  @Test("once the worker is settled, each delivery that is due has its outcome in the store")
  func workerSettles() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in .accepted }
      let running = RunningWorker(
        world.store.deliveries, clock: TestClock(), route: route, capacity: 3)
      try await world.owe(25, worker: running.worker)
      await running.worker.settled()
      #expect(try await world.owed().isEmpty)
      #expect(running.worker.metrics == .init(delivered: 25))
      await running.worker.stop()
      await running.worker.settled()
    }
  }

  @Test("a delivery that waits for another attempt is not waited for, until the clock is there")
  func retriesFollowTheClock() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, before in
        before == 0 ? .apns(503, "ServiceUnavailable", retryAfter: 3600) : .accepted
      }
      let clock = TestClock()
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(2, worker: running.worker)
      await running.worker.settled()
      #expect(running.worker.metrics == .init(retried: 2, waiting: 2, pausedRoutes: 1))
      clock.advance(bySeconds: 3599)
      running.worker.lookForDueDeliveries()
      await running.worker.settled()
      #expect(running.worker.metrics == .init(retried: 2, waiting: 2, pausedRoutes: 1))
      clock.advance(bySeconds: 1)
      running.worker.lookForDueDeliveries()
      await running.worker.settled()
      #expect(running.worker.metrics == .init(delivered: 2, retried: 2))
      await running.worker.stop()
    }
  }
}
