import CloudKitModel
import Storage
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch

struct DispatcherFailureTests {
  private typealias World = DispatchWorld

  /// Whether the failing transaction was carried out nevertheless.
  enum Failure: String, CaseIterable, Sendable { case before, after }

  @Test(
    "what failed is tried again; nothing is lost and nothing logged twice",
    arguments: Failure.allCases)
  func triesAgain(failure: Failure) async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("s"))
      try await world.subscribe(World.query("once", options: [.firesOnRecordCreation, .firesOnce]))
      let left = Box(3)
      let fail: @Sendable ([MatchedChange]) throws -> Void = { _ in
        let fails = left.value.withLock { left in
          left -= 1
          return left >= 0
        }
        if fails { throw StoreError(.statementFailed, "the disk is full") }
      }
      var hooks = DispatchHooks()
      switch failure {
      case .before: hooks.beforeCompletion = fail
      case .after: hooks.afterCompletion = fail
      }
      let running = RunningDispatcher(hooks.around(world.store)) { $0.batchSize = 4 }
      for index in 0..<30 { try await world.save("n\(index)") }
      try await eventually("the outbox must become empty, with all failures behind") {
        let isDispatched = try await world.isDispatched
        return isDispatched && running.dispatcher.metrics.failures == 3
      }
      await running.dispatcher.stop()
      let database = WorkReport.Value.count(Int(world.publicID.rawValue))
      #expect(running.reported.map { $0["database"] } == [database, database, database])
      #expect(
        running.reported.map { $0["retryAfter"] } == [.seconds(0.05), .seconds(0.1), .seconds(0.2)])
      #expect(
        running.reported.allSatisfy {
          $0["cause"]?.description.contains("the disk is full") ?? false
        })
      let log = try await world.readLog()
      #expect(log.filter { $0.hasPrefix("s ") } == (0..<30).map { "s n\($0)" })
      #expect(log.filter { $0.hasPrefix("once ") } == ["once n0"])
    }
  }

  @Test("a database that fails keeps no other waiting")
  func isolatesDatabases() async throws {
    try await withWorld { world in
      let broken = world.privateID
      let other = try await world.store.databases.database(
        at: World.address(.private, owner: "_zoe"))
      #expect(broken < other, "the broken one must come first in the outbox")
      try await world.subscribe(World.query("bad"), in: broken)
      try await world.subscribe(World.query("good"), in: other)
      try await world.save("n", in: broken)
      try await world.save("n", in: other)
      var hooks = DispatchHooks()
      hooks.beforeOutboxReading = { database in
        if database == broken { throw StoreError(.corrupt, "a change cannot be read") }
      }
      let running = RunningDispatcher(hooks.around(world.store))
      try await eventually("the other database must be dispatched") {
        running.lines.contains("good n")
      }
      try await world.save("m", in: other)
      try await eventually("its later changes, too") { running.lines.contains("good m") }
      await running.dispatcher.stop()
      #expect(running.lines == ["good n", "good m"])
      #expect(try await world.store.outbox.undispatchedDatabases() == [broken])
    }
  }

  @Test("stop finishes the batch under way; the rest is dispatched by the next one, once")
  func stopFinishesBatch() async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("s"))
      for index in 0..<10 { try await world.save("n\(index)") }
      let batches = Box(0)
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { _ in
        batches.value.withLock { $0 += 1 }
        // Stopping cancels the dispatcher's task; the batch is held until then.
        while !Task.isCancelled { await Task.yield() }
      }
      let first = RunningDispatcher(hooks.around(world.store)) { $0.batchSize = 3 }
      try await eventually("a batch must be under way") { batches.value.withLock { $0 } == 1 }
      await first.dispatcher.stop()
      #expect(first.lines == ["s n0", "s n1", "s n2"])

      let second = RunningDispatcher(DispatchStore(world.store))
      try await eventually("the outbox must become empty") { try await world.isDispatched }
      await second.dispatcher.stop()
      #expect(try await world.readLog() == (0..<10).map { "s n\($0)" })
    }
  }

  @Test("stop does not wait for the delay after a failure")
  func stopEndsDelay() async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("s"))
      try await world.save("n")
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { _ in throw StoreError(.statementFailed, "the disk is full") }
      let running = RunningDispatcher(hooks.around(world.store))
      // By then the delay is 3.2 seconds.
      try await eventually("it must have failed often") {
        running.dispatcher.metrics.failures >= 7
      }
      let start = ContinuousClock.now
      await running.dispatcher.stop()
      #expect(ContinuousClock.now - start < .seconds(2))
      #expect(try await !world.isDispatched)
    }
  }
}
