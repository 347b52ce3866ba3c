import CloudKitModel
import Foundation
import Storage
import Testing
import Waiting

@testable import ChangeDispatch
@testable import Storage

struct LargeBacklogTests {
  /// Bytes of memory that the process has.
  private static func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(
      separator: " ")
    return (Int(fields[1]) ?? 0) * Int(getpagesize())
  }

  @Test("takes memory for what is under way, and not for what waits")
  func memory() async throws {
    let count = 200_000
    try await withWorld(inFile: true) { world in
      let first = try await world.owe(1)
      let store = world.store
      try await store.transactions.write { transaction in
        _ = try transaction.connection.run(
          """
          WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)
          INSERT INTO deliveries (database_id, number, log_sequence, device, due, updated, route,
            attempts, state)
          SELECT database_id, number + n, log_sequence, device, due, updated, route, 0, 0
          FROM deliveries CROSS JOIN numbers
          """, [.integer(Int64(count - first.count))])
      }
      let before = try Self.residentBytes()
      // Nothing is ever answered.
      let route = ScriptedRoute { _, _ in nil }
      let running = RunningWorker(
        world.store.deliveries, clock: TestClock(), route: route, capacity: 500, stopTime: 0)
      try await eventually("as much is under way as may be", within: .seconds(60)) {
        running.worker.metrics.underWay == 500 && running.worker.isPrepared
      }
      let metrics = running.worker.metrics
      #expect(metrics.waiting == count - 500)
      #expect(route.heldCount <= 500)
      #expect(try Self.residentBytes() - before < 48 << 20)
      await running.worker.stop()
    }
  }
}
