import Foundation
import JSONCoding
import StoreModel
import Testing
import Waiting
import WebPushSimulation

@testable import PetrelServer

/// From the saved record to the browser, over a push service of our own.
@Suite(.serialized)
struct WebPushChannelsTests {
  private func subscribe(
    _ service: Service, info: String = #""alertBody": "New note", "shouldBadge": true"#
  ) async throws {
    try await service.subscribe(
      """
      {"subscriptionID": "notes", "subscriptionType": "query", "firesOn": ["create"],
       "zoneWide": true, "query": {"recordType": "Note"},
       "notificationInfo": {\(info), "additionalFields": ["title"]}}
      """)
  }

  private func save(_ name: String, device: String = "phone", at service: Service) async throws {
    let answer = try await service.modify(
      Service.operation("create", name, #""title": {"value": "Milk"}"#), device: device)
    try #require(answer.status == 200, "\(answer.json)")
  }

  private func devices(_ service: Service) async throws -> [DeviceToken] {
    try await service.store.devices.deviceTokens(of: service.alice.recordName)
  }

  @Test("a saved record arrives as its notification, readable by the browser alone, with a badge")
  func arrives() async throws {
    try await withPushService { service, push in
      let browser = try push.subscribe()
      try await service.register(browser)
      try await subscribe(service)
      for name in ["A", "B"] { try await save(name, at: service) }
      let messages = try await push.wait(count: 2)
      #expect(messages.flatMap(\.faults) == [])
      #expect(messages.allSatisfy { $0.headers["urgency"] == "high" })
      let contents = messages.compactMap(\.json).sorted {
        ($0["aps"]?["badge"]?.int ?? 0) < ($1["aps"]?["badge"]?.int ?? 0)
      }
      #expect(contents.map { $0["aps"]?["alert"]?.string } == ["New note", "New note"])
      #expect(contents.map { $0["aps"]?["badge"]?.int } == [1, 2])
      let query = try #require(contents.first?["ck"]?["qry"])
      #expect(query["rid"] == "A")
      #expect(query["sid"] == "notes")
      #expect(query["af"]?["title"] == "Milk")
    }
  }

  @Test("every browser of the user gets it but the one that made the change")
  func originBrowser() async throws {
    try await withPushService { service, push in
      let own = try push.subscribe()
      let other = try push.subscribe()
      try await service.register(own, device: "own")
      try await service.register(other, device: "other")
      try await subscribe(service)
      try await save("A", device: "own", at: service)
      try await save("B", device: "phone", at: service)
      let messages = try await push.wait(count: 3)
      #expect(messages.filter { $0.endpoint == own.endpoint }.count == 1)
      #expect(messages.filter { $0.endpoint == other.endpoint }.count == 2)
    }
  }

  @Test("a browser that is gone is forgotten, and others go on", arguments: [404, 410])
  func gone(status: Int) async throws {
    try await withPushService { service, push in
      let gone = try push.subscribe()
      let there = try push.subscribe()
      try await service.register(gone)
      try await service.register(there)
      try await subscribe(service)
      push.script([.init(status)], for: gone)
      try await save("A", at: service)
      try await push.wait(count: 2)
      try await eventually("the browser is forgotten") { try await devices(service).count == 1 }
      #expect(try await devices(service).first?.endpoint?.url == there.endpoint)
      try await save("B", at: service)
      try await push.wait(count: 3)
      #expect(push.messages.last?.endpoint == there.endpoint)
    }
  }

  @Test("a refused browser is noted, and forgotten after a refusal on another day")
  func refused() async throws {
    try await withPushService { service, push in
      let refused = try push.subscribe()
      try await service.register(refused)
      try await subscribe(service)
      push.script(Array(repeating: .init(403), count: 1_000), for: refused)
      try await save("A", at: service)
      try await eventually("the refusal is noted") {
        try await devices(service).first?.refusal != nil
      }
      #expect(try await devices(service).count == 1)
      service.clock.advance(bySeconds: 86_400)
      try await save("B", at: service)
      try await eventually("the browser is forgotten") { try await devices(service).isEmpty }
    }
  }

  @Test("what a push service could not take is sent again, and the same")
  func retried() async throws {
    try await withPushService { service, push in
      let browser = try push.subscribe()
      try await service.register(browser)
      try await subscribe(service)
      push.script([.init(503)], for: browser)
      try await save("A", at: service)
      let messages = try await push.wait(count: 2)
      #expect(messages.map(\.status) == [503, 201])
      #expect(messages[0].text == messages[1].text)
      #expect(messages[0].body != messages[1].body)
    }
  }

  @Test("what is owed survives a restart of the server, with the key that the browser knows")
  func restart() async throws {
    try await withPushService { service, push in
      let browser = try push.subscribe()
      try await service.register(browser)
      try await subscribe(service)
      let key = try await service.get("webPush/key", as: nil).json["applicationServerKey"]?.string
      push.script([.init(503, [("retry-after", "3600")])], for: browser)
      try await save("A", at: service)
      try await push.wait(count: 1)
      try await service.restart()
      service.clock.advance(bySeconds: 3601)
      // The server's own timer goes by the clock of the machine; new work makes it look.
      try await save("B", at: service)
      let messages = try await push.wait(count: 3)
      #expect(Set(messages.compactMap { $0.json?["ck"]?["qry"]?["rid"]?.string }) == ["A", "B"])
      let suffix = try #require(key)
      #expect(
        messages.allSatisfy { $0.headers["authorization"]?.hasSuffix("k=" + suffix) == true })
    }
  }

  @Test("a browser that was unregistered gets nothing more")
  func unregistered() async throws {
    try await withPushService { service, push in
      let browser = try push.subscribe()
      let other = try push.subscribe()
      try await service.register(browser)
      try await service.register(other)
      try await subscribe(service)
      _ = try await service.post(
        "webPush/unregister", #"{"endpoint": "\#(browser.endpoint)"}"#, as: service.alice)
      try await save("A", at: service)
      try await save("B", at: service)
      let messages = try await push.wait(count: 2)
      #expect(messages.allSatisfy { $0.endpoint == other.endpoint })
    }
  }

  @Test("a push service that refuses the server's key holds up no other, and is asked again")
  func keyRefused() async throws {
    try await withPushService { service, push in
      let refusing = try push.subscribe()
      let taking = try push.subscribe()
      try await service.register(refusing)
      try await service.register(taking)
      try await subscribe(service)
      push.script([.init(403)], for: refusing)
      for name in ["A", "B", "C"] { try await save(name, at: service) }
      try await eventually("all arrive") {
        push.messages.filter { $0.status == 201 }.count == 6
      }
      #expect(push.messages.filter { $0.status == 403 }.count == 1)
    }
  }
}
