import CloudKitModel
import Foundation
import PushChannels
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch

struct DeliveryQueueTests {
  private typealias World = DispatchWorld

  @Test("silent pushes that wait for the same device and subscription become the newest of them")
  func mergesSilent() async throws {
    try await withWorld { world in
      let owed = try await world.owe(5, visible: false)
      let other = try await world.owe(2, subscription: "t", visible: false)
      let route = ScriptedRoute { _, _ in .accepted }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      await running.worker.settled()
      #expect(running.worker.metrics == .init(delivered: 2, merged: 5))
      #expect(Set(route.pushes.map(\.payload)) == [Self.payload(owed[4]), Self.payload(other[1])])
      #expect(try await world.owed().isEmpty)
      #expect(try await world.log().count == 7, "the log is complete")
      await running.worker.stop()
    }
  }

  @Test("silent pushes for different devices stay apart")
  func devicesStayApart() async throws {
    try await withWorld { world in
      try await world.register(String(repeating: "cd", count: 32))
      try await world.owe(3, visible: false)
      let route = ScriptedRoute { _, _ in .accepted }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      await running.worker.settled()
      #expect(running.worker.metrics == .init(delivered: 2, merged: 4))
      #expect(Set(route.pushes.map(\.deviceToken)).count == 2)
      await running.worker.stop()
    }
  }

  @Test("visible pushes become one only with the same collapse ID", arguments: [nil, "k"])
  func visible(collapseID: String?) async throws {
    try await withWorld { world in
      let owed = try await world.owe(4, collapseID: collapseID)
      let route = ScriptedRoute { _, _ in .accepted }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      await running.worker.settled()
      if collapseID == nil {
        #expect(running.worker.metrics == .init(delivered: 4))
      } else {
        #expect(running.worker.metrics == .init(delivered: 1, merged: 3))
        #expect(route.pushes.map(\.payload) == [Self.payload(owed[3])])
      }
      await running.worker.stop()
    }
  }

  @Test("an older push that waits for its repeat is not sent after a newer one")
  func newerOneTakesItsPlace() async throws {
    try await withWorld { world in
      let first = Box<String?>(nil)
      let route = ScriptedRoute { push, _ in
        let isFirst = first.value.withLock { first in
          if first == nil { first = push.payload.text }
          return first == push.payload.text
        }
        return isFirst ? .apns(500, "InternalServerError") : .accepted
      }
      let clock = TestClock()
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(1, collapseID: "k", worker: running.worker)
      await running.worker.settled()
      #expect(running.worker.metrics.retried == 1)
      try await world.owe(1, collapseID: "k", worker: running.worker)
      await running.worker.settled()
      #expect(running.worker.metrics == .init(delivered: 1, merged: 1, retried: 1))
      clock.advance(bySeconds: 600)
      running.worker.lookForDueDeliveries()
      await running.worker.settled()
      #expect(route.pushes.count == 2)
      await running.worker.stop()
    }
  }

  @Test("an older push that fails while a newer one is under way is not repeated")
  func outdatedUnderWay() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in nil }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      try await world.owe(2, visible: false, worker: running.worker)
      try await eventually("both must be sent") { route.heldCount == 2 }
      route.release(.apns(500, "InternalServerError"))
      await running.worker.settled()
      #expect(running.worker.metrics == .init(merged: 1, retried: 1, waiting: 1))
      #expect(try await world.owed().count == 1)
      await running.worker.stop()
    }
  }

  @Test("beyond the backlog's limit silent pushes become one for each device, visible ones stay")
  func mergesHarder() async throws {
    try await withWorld { world in
      for name in ["s", "t", "u"] {
        try await world.owe(2, subscription: name, visible: false)
      }
      try await world.owe(3, subscription: "v")
      let route = ScriptedRoute { _, _ in .accepted }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route) {
        $0.waitingLimit = 8
      }
      await running.worker.settled()
      #expect(running.worker.metrics == .init(delivered: 4, merged: 5))
      #expect(route.pushes.count { $0.kind == .alert } == 3)
      #expect(running.reportLines.count == 2)
      #expect(running.reported.first?.message.hasPrefix("too many pushes wait") ?? false)
      #expect(running.reported.first?["waiting"] == .count(9))
      #expect(
        running.reported.last?.message.hasPrefix(
          "the number of waiting pushes fell to half of the limit") == true)
      #expect(running.reported.map { $0["limit"] } == [.count(8), .count(8)])
      #expect(try await world.log().count == 9)
      await running.worker.stop()
    }
  }

  @Test("a device gets silent pushes at its pace; what comes meanwhile becomes one")
  func paces() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in .accepted }
      let clock = TestClock()
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route) {
        $0.silentPushInterval = 60
      }
      for _ in 0..<4 {
        try await world.owe(1, visible: false, worker: running.worker)
        await running.worker.settled()
      }
      try await world.owe(1, subscription: "v", worker: running.worker)
      await running.worker.settled()
      #expect(route.pushes.map(\.kind) == [.background, .alert])
      #expect(running.worker.metrics.postponed == 3)
      try await eventually("what waits must be known") { running.worker.metrics.waiting == 3 }
      clock.advance(bySeconds: 60)
      running.worker.lookForDueDeliveries()
      await running.worker.settled()
      #expect(route.pushes.count == 3)
      #expect(running.worker.metrics == .init(delivered: 3, merged: 2, postponed: 3))
      await running.worker.stop()
    }
  }

  @Test("a device that gets too many by APNs' word is left alone, and others are not")
  func tooManyRequests() async throws {
    try await withWorld { world in
      let busy = World.deviceToken
      let route = ScriptedRoute { push, _ in
        push.deviceToken == busy ? .apns(429, "TooManyRequests", retryAfter: 100) : .accepted
      }
      let clock = TestClock()
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(1, worker: running.worker)
      await running.worker.settled()
      try await world.register(String(repeating: "cd", count: 32))
      try await world.owe(2, worker: running.worker)
      await running.worker.settled()
      #expect(route.pushes.count { $0.deviceToken == busy } == 1)
      // The store may have been asked how many wait just when they came.
      try await eventually("what waits must be known") { running.worker.metrics.waiting == 3 }
      #expect(
        running.worker.metrics == .init(delivered: 2, retried: 1, postponed: 2, waiting: 3))
      await running.worker.stop()
    }
  }

  @Test("a route that answers 503 rests for all its pushes, and one tries it again")
  func rests() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, before in
        before == 0 ? .apns(503, "ServiceUnavailable", retryAfter: 100) : .accepted
      }
      let clock = TestClock()
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(1, worker: running.worker)
      await running.worker.settled()
      try await world.owe(9, worker: running.worker)
      await running.worker.settled()
      #expect(route.pushes.count == 1)
      #expect(running.worker.metrics.pausedRoutes == 1)
      try await eventually("what waits must be known") { running.worker.metrics.waiting == 10 }
      clock.advance(bySeconds: 100)
      running.worker.lookForDueDeliveries()
      // Each of the others is refused once too, whereupon the route rests again.
      while running.worker.metrics.delivered < 10 {
        await running.worker.settled()
        clock.advance(bySeconds: 100)
        running.worker.lookForDueDeliveries()
      }
      let sent = Dictionary(grouping: route.pushes, by: \.identifier)
      #expect(sent.count == 10 && sent.values.allSatisfy { $0.count == 2 })
      await running.worker.stop()
    }
  }

  @Test("after an outage one 503 lets a route rest no longer than the first 503 does")
  func refusalAfterOutage() async throws {
    try await withWorld { world in
      let isOut = Box(true)
      let refused = Box(false)
      let route = ScriptedRoute { _, _ in
        if isOut.value.withLock({ $0 }) { return .notSent("no route to host") }
        let isFirst = refused.value.withLock { refused in
          defer { refused = true }
          return !refused
        }
        return isFirst ? .apns(503, "ServiceUnavailable") : .accepted
      }
      let clock = TestClock()
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(1, worker: running.worker)
      for _ in 0..<60 {
        await running.worker.settled()
        clock.advance(bySeconds: 60)
        running.worker.lookForDueDeliveries()
      }
      await running.worker.settled()
      #expect(try await world.owed().first?.attempts == 0, "it was never sent")
      isOut.value.withLock { $0 = false }
      clock.advance(bySeconds: 60)
      running.worker.lookForDueDeliveries()
      await running.worker.settled()
      #expect(refused.value.withLock { $0 })
      #expect(try await world.owed().first?.attempts == 1)
      // The whole of the first delay.
      clock.advance(bySeconds: 1)
      running.worker.lookForDueDeliveries()
      await running.worker.settled()
      #expect(running.worker.metrics.delivered == 1)
      await running.worker.stop()
    }
  }

  @Test("a route whose answers never come holds up no other")
  func routesAreIndependent() async throws {
    try await withWorld { world in
      let stuck = ScriptedRoute { _, _ in nil }
      let works = ScriptedRoute { _, _ in .accepted }
      let other = String(repeating: "cd", count: 32)
      let worker = DeliveryWorker(
        store: world.store.deliveries, configuration: Self.small, clock: TestClock().read,
        random: { 0 },
        report: { _ in },
        route: { ($0.apnsEnvironment == .production ? stuck : works).route })
      worker.start()
      try await world.register(World.deviceToken, apnsEnvironment: .production)
      try await world.owe(50, registers: false, worker: worker)
      try await eventually("as many as may be are under way") { stuck.heldCount == 4 }
      try await world.register(other)
      try await world.owe(50, registers: false, worker: worker)
      try await eventually("the other device gets its pushes") {
        works.pushes.count { $0.deviceToken == other } == 50
      }
      #expect(stuck.pushes.count == 4)
      try await eventually("the first device gets its own in the end") {
        stuck.release()
        return worker.metrics.delivered == 150
      }
      await worker.stop()
    }
  }

  @Test(
    "a push that is due again before it is known that its outcome was written is sent then",
    arguments: [false, true])
  func dueEarly(isKnownWhileTaking: Bool) async throws {
    try await withWorld { world in
      let (written, taken) = (Gate(), Gate())
      var queue = HookedDeliveryQueue(world.store.deliveries)
      queue.afterUpdate = { updates in
        if updates.contains(where: \.state.isPutOff) { await written.pass() }
      }
      queue.afterTaking = { if !$0.deliveries.isEmpty { await taken.pass() } }
      let route = ScriptedRoute { _, before in
        before == 0 ? .apns(500, "InternalServerError") : .accepted
      }
      let clock = TestClock()
      let running = RunningWorker(queue, clock: clock, route: route)
      let worker = running.worker
      try await world.owe(1, worker: worker)
      try await eventually("that it is to be repeated is written") { written.arrived == 1 }
      clock.advance(bySeconds: 10)
      worker.lookForDueDeliveries()
      try await eventually("it is taken once more") { taken.arrived == 1 }
      if isKnownWhileTaking {
        written.open()
        try await eventually("that is known") { worker.metrics.retried == 1 }
        taken.open()
      } else {
        taken.open()
        try await eventually("the worker waits for the end of the lease") {
          worker.state.withLock { $0.schedules.values.contains { $0.nextWake != nil } }
        }
        written.open()
      }
      try await eventually("it is delivered") { worker.metrics.delivered == 1 }
      #expect(route.pushes.count == 2)
      #expect(try await world.owed().isEmpty)
      await worker.stop()
    }
  }

  @Test("what is leased to a process is not taken by another until the lease ends")
  func leases() async throws {
    try await withWorld { world in
      try await world.owe(3)
      let route = try #require(try await world.store.deliveries.deliveryRoutes().keys.first)
      let end = World.start.advanced(bySeconds: 60)
      func take(_ holder: Int64, at time: Timestamp, limit: Int = 10) async throws -> Int {
        try await world.store.deliveries.takeDeliveries(
          on: route, dueAt: time, limit: limit,
          lease: DeliveryLease(holder: holder, until: time.advanced(bySeconds: 60)),
          mergingHarder: false
        ).deliveries.count
      }
      #expect(try await take(1, at: World.start, limit: 2) == 2)
      #expect(try await take(2, at: World.start) == 1)
      #expect(try await take(2, at: end.advanced(bySeconds: -1)) == 0)
      #expect(try await take(2, at: end) == 3)
      // The end of the others' process is known: what it had is there at once.
      try await world.store.deliveries.reclaimDeliveries(at: end, exceptOf: 2)
      #expect(try await take(3, at: end) == 0)
      try await world.store.deliveries.reclaimDeliveries(at: end, exceptOf: 3)
      #expect(try await take(3, at: end) == 3)
    }
  }

  @Test(
    "a push that is too large by APNs' word is pruned and sent once more", arguments: [2_000, 0])
  func tooLarge(greatest: Int) async throws {
    try await withWorld { world in
      let route = ScriptedRoute { push, _ in
        push.payload.bytes.count > greatest ? .apns(413, "PayloadTooLarge") : .accepted
      }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      try await world.owe(
        1, alert: String(repeating: "x", count: 3_000), worker: running.worker)
      await running.worker.settled()
      #expect(running.worker.metrics == (greatest > 0 ? .init(delivered: 1) : .init(refused: 1)))
      #expect(route.pushes.count == 2)
      #expect(route.pushes[1].payload.bytes.count <= route.pushes[0].payload.bytes.count / 2)
      #expect(route.pushes[1].payload.isPruned && !route.pushes[0].payload.isPruned)
      #expect(Set(route.pushes.map(\.identifier)).count == 1)
      await running.worker.stop()
    }
  }

  @Test("a push that APNs refuses by a fault of ours is kept with its payload")
  func refused() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in .apns(400, "BadMessageId") }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      let owed = try await world.owe(1, worker: running.worker)
      await running.worker.settled()
      #expect(running.worker.metrics == .init(refused: 1))
      let kept = try await world.store.deliveries.refusedPushes(limit: 10)
      #expect(kept.map(\.id) == owed.map(\.id))
      #expect(kept.map(\.payload) == [Self.payload(owed[0]).bytes])
      #expect(kept.first?.reason.contains("BadMessageId") ?? false)
      await running.worker.stop()
    }
  }

  private static func payload(_ delivery: Delivery) -> PushPayload {
    PushPayload(delivery.notification, badge: delivery.badge, reader: .apns)
  }

  private static var small: DeliveryWorker.Configuration {
    var configuration = DeliveryWorker.Configuration()
    configuration.capacity = 4
    return configuration
  }
}
