import CloudKitModel
import Foundation
import PushChannels
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import ChangeDispatch

struct DeliveryWorkerTests {
  private typealias World = DispatchWorld

  @Test("a delivery that is accepted is done")
  func delivered() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in .accepted }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      try await world.owe(3, worker: running.worker)
      try await eventually("all must be delivered") { running.worker.metrics.delivered == 3 }
      await running.worker.stop()
      #expect(try await world.owed().isEmpty)
      #expect(route.pushes.count == 3)
      let push = try #require(route.pushes.first)
      #expect(push.deviceToken == World.deviceToken && push.topic == "com.example.app")
      #expect(push.kind == .alert)
      #expect(running.worker.metrics == .init(delivered: 3))
      #expect(running.reportLines.isEmpty)
    }
  }

  @Test("what an earlier process left is delivered after the start")
  func loadsAtStart() async throws {
    try await withWorld(inFile: true) { world in
      try await world.owe(20)
      let route = ScriptedRoute { _, _ in .accepted }
      let running = RunningWorker(
        world.store.deliveries, clock: TestClock(), route: route, capacity: 3)
      try await eventually("all must be delivered") { try await world.owed().isEmpty }
      await running.worker.stop()
      #expect(Set(route.pushes.map(\.identifier)).count == 20)
      #expect(route.pushes.count == 20)
    }
  }

  @Test("a count of what waits that was wrong once is put right when all is quiet")
  func recounts() async throws {
    try await withWorld { world in
      try await world.owe(3)
      var queue = HookedDeliveryQueue(world.store.deliveries)
      let counts = Mutex(0)
      // Deliveries are committed while the worker reads the store, and reported to the worker
      // afterwards.
      queue.owed = { owed in
        counts.withLock {
          $0 += 1
          return $0 == 1 ? owed + 4 : owed
        }
      }
      let running = RunningWorker(
        queue, clock: TestClock(), route: ScriptedRoute { _, _ in .accepted })
      try await eventually("all must be delivered") { running.worker.metrics.delivered == 3 }
      try await eventually("none waits any more") { running.worker.metrics.waiting == 0 }
      await running.worker.stop()
      #expect(counts.withLock { $0 } > 1)
    }
  }

  @Test("a delivery that could not be sent is due again after its delay, with the same apns-id")
  func retries() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, before in
        before == 0 ? .apns(503, "ServiceUnavailable", retryAfter: 100) : .accepted
      }
      let clock = TestClock()
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(1, worker: running.worker)
      try await eventually("it must be put off") { running.worker.metrics.retried == 1 }
      let due = World.start.advanced(bySeconds: 100)
      #expect(try await world.nextDeliveryTime(after: World.start) == due)
      #expect(try await world.owed().map(\.attempts) == [1])
      #expect(route.pushes.count == 1)
      await running.worker.stop()

      clock.advance(bySeconds: 100)
      let next = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await eventually("it must be delivered") { next.worker.metrics.delivered == 1 }
      await next.worker.stop()
      #expect(route.pushes.count == 2)
      #expect(Set(route.pushes.map(\.identifier)).count == 1)
    }
  }

  @Test("a repeat comes by itself when its time has come")
  func repeatsInTime() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, before in before < 3 ? .notSent("no connection") : .accepted }
      // The worker waits by the machine's clock.
      let difference = World.start.seconds - Timestamp.now.seconds
      let worker = DeliveryWorker(
        store: world.store.deliveries, clock: { Timestamp.now.advanced(bySeconds: difference) },
        random: { 0 }, report: { _ in }, route: { _ in route.route })
      worker.start()
      try await world.owe(1, worker: worker)
      try await eventually("it must be sent four times") { route.pushes.count == 4 }
      await worker.stop()
      #expect(worker.metrics.retried == 3)
      #expect(Set(route.pushes.map(\.identifier)).count == 1)
    }
  }

  @Test("a repeat whose time has come before it is looked for is not overlooked")
  func repeatIsDueAtOnce() async throws {
    try await withWorld { world in
      let clock = TestClock()
      var queue = HookedDeliveryQueue(world.store.deliveries)
      queue.afterUpdate = { updates in
        if case .retry = updates.first?.state { clock.advance(bySeconds: 60) }
      }
      let route = ScriptedRoute { _, before in before == 0 ? .notSent("no connection") : .accepted }
      let running = RunningWorker(queue, clock: clock, route: route)
      try await world.owe(1, worker: running.worker)
      try await eventually("it must be delivered") { running.worker.metrics.delivered == 1 }
      await running.worker.stop()
    }
  }

  @Test("a repeat that falls due while the store is read is not overlooked")
  func repeatFallsDueMeanwhile() async throws {
    try await withWorld { world in
      let clock = TestClock()
      let route = ScriptedRoute { _, before in before == 0 ? .notSent("no connection") : .accepted }
      var queue = HookedDeliveryQueue(world.store.deliveries)
      queue.afterTaking = { taken in
        if route.pushes.count == 1, taken.deliveries.isEmpty { clock.advance(bySeconds: 60) }
      }
      let running = RunningWorker(queue, clock: clock, route: route)
      try await world.owe(1, worker: running.worker)
      try await eventually("it must be delivered") { running.worker.metrics.delivered == 1 }
      await running.worker.stop()
    }
  }

  @Test(
    "a push whose answer never came is sent again, and counts as an attempt unless it was not sent",
    arguments: [true, false])
  func unanswered(wasSent: Bool) async throws {
    try await withWorld { world in
      let clock = TestClock()
      let answer = wasSent ? PushAnswer.unanswered("connection reset") : .notSent("no connection")
      let route = ScriptedRoute { _, _ in answer }
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(1, worker: running.worker)
      try await eventually("it must be put off") { running.worker.metrics.retried == 1 }
      await running.worker.stop()
      #expect(try await world.owed().map(\.attempts) == [wasSent ? 1 : 0])
    }
  }

  @Test(
    "what has expired is given up without being sent", arguments: [(true, 86_400.0), (false, 3600)])
  func expired(visible: Bool, lifetime: Double) async throws {
    try await withWorld { world in
      let clock = TestClock()
      let route = ScriptedRoute { _, _ in .accepted }
      try await world.owe(1, visible: visible)
      clock.advance(bySeconds: lifetime)
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await eventually("it must be given up") { running.worker.metrics.expired == 1 }
      await running.worker.stop()
      #expect(route.pushes.isEmpty)
      #expect(try await world.owed().isEmpty)
    }
  }

  @Test("a repeat that has expired in the meantime is given up")
  func expiredRepeat() async throws {
    try await withWorld { world in
      let clock = TestClock()
      let route = ScriptedRoute { _, _ in .notSent("no connection") }
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(1, worker: running.worker)
      try await eventually("it must be put off") { running.worker.metrics.retried == 1 }
      clock.advance(bySeconds: 86_400)
      try await eventually("it must be given up") { running.worker.metrics.expired == 1 }
      await running.worker.stop()
      #expect(route.pushes.count == 1)
    }
  }

  @Test(
    "a token that APNs does not know is dropped, unless it was registered after the answer's time",
    arguments: [(-10.0, true), (10.0, false)])
  func droppedToken(registered: Double, isDropped: Bool) async throws {
    try await withWorld { world in
      try await world.register(
        World.deviceToken, at: World.start.advanced(bySeconds: registered))
      // The answer comes after both registrations: its own time decides.
      let clock = TestClock()
      clock.advance(bySeconds: 60)
      let route = ScriptedRoute { _, _ in .apns(410, "Unregistered", timestamp: World.start) }
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(2, registers: false, worker: running.worker)
      try await eventually("it must be given up") { running.worker.metrics.abandoned >= 1 }
      await running.worker.stop()
      let token = try await world.store.devices.registrations(
        ofToken: World.deviceToken, kind: .apns
      ).first
      #expect((token == nil) == isDropped)
      // What else was owed to a dropped token is given up with it.
      if isDropped { #expect(try await world.owed().isEmpty) }
    }
  }

  @Test("a token that was never one of the topic is dropped without a time in the answer")
  func badDeviceToken() async throws {
    try await withWorld { world in
      let clock = TestClock()
      try await world.register(World.deviceToken)
      clock.advance(bySeconds: 1)
      let route = ScriptedRoute { _, _ in .apns(400, "BadDeviceToken") }
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await world.owe(1, registers: false, worker: running.worker)
      try await eventually("it must be given up") { running.worker.metrics.abandoned == 1 }
      await running.worker.stop()
      #expect(
        try await world.store.devices.registrations(ofToken: World.deviceToken, kind: .apns).isEmpty
      )
    }
  }

  @Test("a token of another app than the topic stays registered, and the reason says what to do")
  func tokenOfAnotherApp() async throws {
    try await withWorld { world in
      let clock = TestClock()
      try await world.register(World.deviceToken)
      let route = ScriptedRoute { _, _ in .apns(400, "DeviceTokenNotForTopic") }
      let outcomes = Box<[DeliveryUpdate.State]>([])
      let running = RunningWorker(world.store.deliveries, clock: clock, route: route) {
        $0.trace = { _, outcome in outcomes.value.withLock { $0.append(outcome) } }
      }
      try await world.owe(1, registers: false, worker: running.worker)
      try await eventually("it must be given up") { running.worker.metrics.abandoned == 1 }
      await running.worker.stop()
      let devices = try await world.store.devices.registrations(
        ofToken: World.deviceToken, kind: .apns)
      #expect(
        devices.map(\.refusal) == [.init(since: World.start, topic: "com.example.app")])
      #expect(try await world.owed().isEmpty)
      let reason = outcomes.value.withLock(\.self).compactMap { outcome in
        if case .abandoned(let reason) = outcome { reason } else { nil }
      }.first
      #expect(
        reason?.contains(
          "DeviceTokenNotForTopic: the device token belongs to another app than the topic 'com.example.app'"
        )
          == true, "\(reason ?? "")")
    }
  }

  @Test("a device that is accepted after a refusal has no note of it any more")
  func acceptedAgain() async throws {
    try await withWorld { world in
      try await world.register(World.deviceToken)
      let first = ScriptedRoute { _, _ in .apns(400, "DeviceTokenNotForTopic") }
      let refusing = RunningWorker(world.store.deliveries, clock: TestClock(), route: first)
      try await world.owe(1, registers: false, worker: refusing.worker)
      try await eventually("it must be given up") { refusing.worker.metrics.abandoned == 1 }
      await refusing.worker.stop()
      func refusal() async throws -> DeviceToken.Refusal? {
        try await world.store.devices.registrations(ofToken: World.deviceToken, kind: .apns)
          .first?.refusal
      }
      try #require(try await refusal() != nil)
      let second = ScriptedRoute { _, _ in .accepted }
      let accepting = RunningWorker(world.store.deliveries, clock: TestClock(), route: second)
      try await world.owe(1, registers: false, worker: accepting.worker)
      try await eventually("it must be accepted") { accepting.worker.metrics.delivered == 1 }
      await accepting.worker.stop()
      #expect(try await refusal() == nil)
    }
  }

  @Test("a fault of the push itself is reported and not repeated")
  func fault() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in .apns(400, "BadMessageId") }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      let delivery = try #require(try await world.owe(1, worker: running.worker).first)
      try await eventually("it must be given up") { running.worker.metrics.refused == 1 }
      await running.worker.stop()
      #expect(route.pushes.count == 1)
      let notificationID = delivery.notification.change.notificationID
      #expect(running.reported.map(\.message) == ["a push failed and is not sent again"])
      let report = try #require(running.reported.first)
      #expect(report["request"] == .text("\(RequestUUID(ofNotification: notificationID))"))
      #expect(report["notification"] == .text(notificationID.uuidString.lowercased()))
      #expect(report["container"] == .text(World.container))
      #expect(report["subscriber"] == .text(World.alice))
      #expect(report["subscription"] == .text("s"))
      #expect(report["kind"] == .text("apns"))
      #expect(report["token"] == .text(String(World.deviceToken.prefix(12))))
      #expect(report["attempt"] == .count(1))
      #expect(report["reason"]?.description.contains("BadMessageId") ?? false)
      #expect(
        try await world.store.devices.registrations(ofToken: World.deviceToken, kind: .apns).isEmpty
          == false)
    }
  }

  @Test("what stands still until an operator acts is reported, and tried again after a minute")
  func suspended() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in .apns(403, "InvalidProviderToken") }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      try await world.owe(1, worker: running.worker)
      try await eventually("it must be put off") { running.worker.metrics.retried == 1 }
      await running.worker.stop()
      #expect(try await world.owed().map(\.due) == [World.start.advanced(bySeconds: 60)])
      let report = try #require(running.reported.first)
      #expect(report.message == "pushes are paused")
      #expect(
        report.fields.map(\.name) == ["container", "kind", "apnsEnvironment", "reason", "at"])
      #expect(report["container"] == .text(World.container))
      #expect(report["reason"]?.description.contains("check the key file") ?? false)
      #expect(report["at"] == .text(World.start.advanced(bySeconds: 60).iso8601))
    }
  }

  @Test("an expired provider token puts a push off")
  func expiredProviderToken() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in .apns(403, "ExpiredProviderToken") }
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: route)
      try await world.owe(1, worker: running.worker)
      try await eventually("it must be put off") { running.worker.metrics.retried == 1 }
      await running.worker.stop()
      #expect(try await world.owed().map(\.due) == [World.start.advanced(bySeconds: 60)])
    }
  }

  @Test("a container without APNs gives its deliveries up")
  func noRoute() async throws {
    try await withWorld { world in
      try await world.owe(5)
      let running = RunningWorker(world.store.deliveries, clock: TestClock(), route: nil)
      try await eventually("all must be given up") { running.worker.metrics.abandoned == 5 }
      await running.worker.stop()
      #expect(try await world.owed().isEmpty)
    }
  }

  @Test(
    "no more than the capacity is under way, and each of many is sent once", arguments: [1, 2, 7])
  func capacity(_ capacity: Int) async throws {
    try await withWorld(inFile: true) { world in
      let route = ScriptedRoute { _, _ in nil }
      let running = RunningWorker(
        world.store.deliveries, clock: TestClock(), route: route, capacity: capacity)
      try await world.owe(50, worker: running.worker)
      try await eventually("all must be delivered") {
        route.release()
        return running.worker.metrics.delivered == 50
      }
      await running.worker.stop()
      #expect(route.mostHeld <= capacity)
      #expect(route.pushes.count == 50)
      #expect(Set(route.pushes.map(\.identifier)).count == 50)
      #expect(try await world.owed().isEmpty)
    }
  }

  @Test("deliveries without an answer at the stop are sent by the next process as the same pushes")
  func restart() async throws {
    try await withWorld(inFile: true) { world in
      let silent = ScriptedRoute { _, _ in nil }
      let clock = TestClock()
      let first = RunningWorker(world.store.deliveries, clock: clock, route: silent, stopTime: 0)
      try await world.owe(10, worker: first.worker)
      try await eventually("all must be sent") { silent.heldCount == 10 }
      await first.worker.stop()
      // An answer that comes too late for the first process is of no harm.
      silent.release()
      #expect(try await world.owed().count == 10)

      let route = ScriptedRoute { _, _ in .accepted }
      let second = RunningWorker(world.store.deliveries, clock: clock, route: route)
      try await eventually("all must be delivered") { second.worker.metrics.delivered == 10 }
      await second.worker.stop()
      #expect(Set(route.pushes) == Set(silent.pushes))
      #expect(route.pushes.count == 10)
    }
  }

  @Test("stop waits for the answers that are due and writes them", arguments: [false, true])
  func stopWritesOutcomes(isAnsweredBefore: Bool) async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in nil }
      // The worker's clock stands still: the stop must go by another.
      let running = RunningWorker(
        world.store.deliveries, clock: TestClock(), route: route, stopTime: 20)
      try await world.owe(30, worker: running.worker)
      try await eventually("all must be sent") { route.heldCount == 30 }
      if isAnsweredBefore { route.release() }
      async let stopped: Void = running.worker.stop()
      if !isAnsweredBefore { route.release() }
      await stopped
      #expect(running.worker.metrics == .init(delivered: 30))
      #expect(try await world.owed().isEmpty)
      try await world.owe(1, worker: running.worker)
      #expect(route.pushes.count == 30, "nothing is sent after the stop")
    }
  }

  @Test("stop waits no longer than its time for answers that do not come")
  func stopEndsInTime() async throws {
    try await withWorld { world in
      let route = ScriptedRoute { _, _ in nil }
      let running = RunningWorker(
        world.store.deliveries, clock: TestClock(), route: route, stopTime: 0.05)
      try await world.owe(1, worker: running.worker)
      try await eventually("it must be sent") { route.heldCount == 1 }
      await running.worker.stop()
      #expect(try await world.owed().count == 1)
    }
  }

  @Test("outcomes that could not be written are written later, and nothing is sent twice")
  func failingStore() async throws {
    try await withWorld { world in
      let left = Box(3)
      var queue = HookedDeliveryQueue(world.store.deliveries)
      queue.beforeUpdate = { _ in
        let fails = left.value.withLock { left in
          left -= 1
          return left >= 0
        }
        if fails { throw StoreError(.overloaded, "too many writes wait") }
      }
      let route = ScriptedRoute { _, _ in .accepted }
      let running = RunningWorker(queue, clock: TestClock(), route: route)
      try await world.owe(20, worker: running.worker)
      try await eventually("all must be written") { running.worker.metrics.delivered == 20 }
      await running.worker.stop()
      #expect(route.pushes.count == 20)
      #expect(running.reported.map(\.message).allSatisfy { $0.hasPrefix("outcomes of pushes") })
      #expect(
        running.reported.map { $0["retryAfter"] } == [.seconds(0.05), .seconds(0.1), .seconds(0.2)])
      #expect(try await world.owed().isEmpty)
    }
  }

  @Test(
    "a silent one whose retry is being written is merged into a newer one that arrives meanwhile")
  func retryOvertakenWhileWritten() async throws {
    try await withWorld { world in
      let sent = Box(0)
      let route = ScriptedRoute { _, _ in
        let number = sent.value.withLock { sent in
          sent += 1
          return sent
        }
        return number == 1 ? .apns(500, "InternalServerError") : .accepted
      }
      var queue = HookedDeliveryQueue(world.store.deliveries)
      queue.beforeUpdate = { _ in
        try await eventually("the newer one is sent") { sent.value.withLock { $0 } >= 2 }
      }
      let clock = TestClock()
      let running = RunningWorker(queue, clock: clock, route: route) { $0.silentPushInterval = 0 }
      try await world.register(World.deviceToken)
      for number in 1...2 {
        _ = try await world.notify(
          1, subscription: "silent", visible: false, collapseID: nil, worker: running.worker)
        try await eventually("it is sent") { route.pushes.count == number }
      }
      await running.worker.settled()
      clock.advance(bySeconds: 60)
      running.worker.lookForDueDeliveries()
      await running.worker.settled()
      #expect(route.pushes.count == 2)
      let metrics = running.worker.metrics
      #expect((metrics.delivered, metrics.merged, metrics.retried) == (1, 1, 1))
      await running.worker.stop()
    }
  }

  @Test("dispatcher and worker together deliver each change under load")
  func together() async throws {
    try await withWorld(inFile: true) { world in
      try await world.register(World.deviceToken)
      var subscription = World.query("s")
      subscription.notificationInfo = NotificationInfo()
      subscription.notificationInfo?.alertBody = "New"
      try await world.subscribe(subscription)
      let route = ScriptedRoute { push, before in
        before == 0 && push.identifier.uuid.0.isMultiple(of: 4)
          ? .apns(500, "InternalServerError") : .accepted
      }
      let clock = TestClock()
      let worker = DeliveryWorker(
        store: world.store.deliveries, configuration: Self.tiny, clock: clock.read, random: { 0 },
        report: { _ in }, route: { _ in route.route })
      let dispatcher = Dispatcher(
        store: DispatchStore(world.store), clock: { DispatchWorld.start }, report: { _ in },
        capacity: { worker.capacity() },
        onDispatched: { worker.enqueue($0.deliveries, waiting: $0.waiting) })
      worker.start()
      dispatcher.start()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<100 { group.addTask { try await world.save("n\(index)") } }
        try await group.waitForAll()
      }
      try await eventually("each must have its first attempt") {
        Set(route.pushes.map(\.identifier)).count == 100
      }
      clock.advance(bySeconds: 60)
      try await eventually("all must be delivered") {
        let isDispatched = try await world.isDispatched
        let isDelivered = try await world.owed().isEmpty
        return isDispatched && isDelivered
      }
      await dispatcher.stop()
      await worker.stop()
      let sent = Dictionary(grouping: route.pushes, by: \.identifier)
      #expect(sent.count == 100)
      for (identifier, pushes) in sent {
        #expect(pushes.count == (identifier.uuid.0.isMultiple(of: 4) ? 2 : 1))
      }
    }
  }

  private static var tiny: DeliveryWorker.Configuration {
    var configuration = DeliveryWorker.Configuration()
    configuration.capacity = 5
    configuration.updateBatchSize = 3
    return configuration
  }
}
