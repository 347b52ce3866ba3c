import CloudKitModel
import Explanation
import Foundation
import JSONCoding
import Testing
import Waiting
import WebPushSimulation

@testable import PetrelServer

/// Why a push came, or went no further, asked of a server that did it.
@Suite(.serialized)
struct ExplanationTests {
  @Test("the time line of a change goes from its commit to each device's answer")
  func timeLine() async throws {
    try await withPushService { service, push in
      let browser = try push.subscribe()
      try await service.register(browser, device: "tab")
      try await service.watch()
      try await service.saveNote("A")
      let change = try await service.explain("A") { change in
        change.notifications.first?.deliveries.first?.delivery.state == .delivered
      }
      #expect(change.change.event == .recordCreated)
      #expect(change.change.deviceID == "phone")
      let committed = change.change.timestamp
      let matched = try #require(change.dispatched)
      let notification = try #require(change.notifications.first)
      #expect(committed <= matched && notification.entry.logged <= matched)
      #expect(notification.entry.notification.subscription.subscriptionID == "notes")
      let delivery = try #require(notification.deliveries.first?.delivery)
      #expect(delivery.kind == .webPush && delivery.attempts == 1)
      #expect(delivery.updated >= notification.entry.logged)
      #expect(notification.silentDevices.isEmpty && change.silent.isEmpty)
    }
  }

  @Test("what a push service answered is told: a failure with its next try, a token that is gone")
  func answers() async throws {
    try await withPushService { service, push in
      let failing = try push.subscribe()
      let gone = try push.subscribe()
      try await service.register(failing, device: "failing")
      try await service.register(gone, device: "gone")
      push.script([.init(503, [("retry-after", "3600")])], for: failing)
      push.script([.init(410)], for: gone)
      try await service.watch()
      try await service.saveNote("A")
      let change = try await service.explain("A") { change in
        change.notifications.first?.deliveries.contains { $0.delivery.state == .abandoned } == true
          && change.notifications.first?.deliveries.contains {
            $0.delivery.attempts == 1
              && $0.delivery.state == .waiting
          } == true
      }
      let deliveries = try #require(change.notifications.first).deliveries.map(\.delivery)
      let waiting = try #require(deliveries.first { $0.state == .waiting })
      #expect(waiting.reason?.contains("503") == true)
      #expect(waiting.due >= waiting.updated.advanced(bySeconds: 3000))
      let abandoned = try #require(deliveries.first { $0.state == .abandoned })
      #expect(abandoned.reason?.contains("410") == true)

      // The next change finds the device gone.
      try await service.saveNote("B")
      let next = try await service.explain("B") { !$0.notifications.isEmpty }
      let reasons = try #require(next.notifications.first).silentDevices
      #expect(reasons.map(\.code) == [.deviceGone])
      #expect(reasons.first?.device == abandoned.token)
    }
  }

  @Test("a push that was merged names the one that went in its place")
  func merged() async throws {
    try await withPushService { service, push in
      let browser = try push.subscribe()
      try await service.register(browser, device: "tab")
      try await service.watch(info: #""shouldSendContentAvailable": true"#)
      // On a busy machine the server may miss an answer and ask again, so there are some to spare.
      push.script(Array(repeating: .init(503, [("retry-after", "3600")]), count: 4), for: browser)
      try await service.saveNote("A")
      let first = try await service.explain("A") { change in
        change.notifications.first?.deliveries.first?.delivery.reason?.contains("503") == true
      }
      let firstDue = try #require(first.notifications.first?.deliveries.first?.delivery.due)
      // The worker holds B until the device may be asked again. The clock must not move before B
      // waits in the store, because A would be sent beside it.
      try await service.saveNote("B")
      _ = try await service.explain("B") { change in
        guard let delivery = change.notifications.first?.deliveries.first?.delivery else {
          return false
        }
        return delivery.state == .waiting && delivery.due >= firstDue
      }
      service.clock.advance(bySeconds: 3601)
      // New work makes the server look at the clock.
      try await service.saveNote("C")
      let change = try await service.explain("A") { change in
        change.notifications.first?.deliveries.first?.delivery.state == .merged
      }
      let newer = try #require(change.notifications.first?.deliveries.first?.mergedInto)
      let names = ["B", "C"]
      #expect(names.contains(newer.notification.change.record?.recordID.recordName ?? ""))
    }
  }

  @Test("the explanation lists what a push that is too large lacks, in the order in which it went")
  func prunedParts() async throws {
    try await withService { service in
      try await service.watch(id: "short")
      let long = String(repeating: "x", count: 4_000)
      try await service.watch(id: "long", firesOn: ["create"], info: #""alertBody": "\#(long)""#)
      try await service.saveNote("A")
      let change = try await service.explain("A") { $0.notifications.count == 2 }
      for notification in change.notifications {
        let isLong = notification.entry.notification.subscription.subscriptionID == "long"
        #expect(
          notification.prunedParts.map(\.description)
            == (isLong ? ["record ID or zone ID", "reason", "end of the body"] : []))
      }
    }
  }

  @Test("a subscriber without a device has no push, and a reader of the courier comes by itself")
  func noDevice() async throws {
    try await withService { service in
      try await service.watch()
      try await service.saveNote("A")
      let change = try await service.explain("A") { !$0.notifications.isEmpty }
      #expect(change.notifications.first?.silentDevices.map(\.code) == [.noDevice])
      service.clock.advance(bySeconds: 1)
      _ = try await service.makeReader(as: service.alice)
      let later = try await service.explain("A") { !$0.notifications.isEmpty }
      #expect(later.notifications.first?.silentDevices.map(\.code) == [.registeredLater])
      try await service.saveNote("B")
      let read = try await service.explain("B") { !$0.notifications.isEmpty }
      #expect(read.notifications.first?.silentDevices.map(\.code) == [.courier])
    }
  }

  @Test("a reader of the courier on the device that made the change has the reason of that device")
  func readerOfOrigin() async throws {
    try await withService { service in
      try await service.watch()
      _ = try await service.makeReader(as: service.alice, device: "own")
      try await service.saveNote("A", device: "own")
      let own = try await service.explain("A") { !$0.notifications.isEmpty }
      #expect(own.notifications.first?.silentDevices.map(\.code) == [.originDevice])
      _ = try await service.makeReader(as: service.alice, device: "other")
      try await service.saveNote("B", device: "own")
      let both = try await service.explain("B") { !$0.notifications.isEmpty }
      let codes = both.notifications.first?.silentDevices.map(\.code.rawValue).sorted()
      #expect(codes == ["courier", "originDevice"])
    }
  }

  @Test("the device that made the change, and one that came later, have no push")
  func originAndLater() async throws {
    try await withPushService { service, push in
      try await service.register(push.subscribe(), device: "own")
      try await service.watch()
      try await service.saveNote("A", device: "own")
      _ = try await service.explain("A") { !$0.notifications.isEmpty }
      service.clock.advance(bySeconds: 60)
      try await service.register(push.subscribe(), device: "new")
      let change = try await service.explain("A") { !$0.notifications.isEmpty }
      let codes = change.notifications.first?.silentDevices.map(\.code.rawValue).sorted()
      #expect(codes == ["originDevice", "registeredLater"])
    }
  }
}
