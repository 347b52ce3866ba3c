import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import PushChannels

struct PushPayloadPruningTests {
  /// An info in which every part that can go has `size` bytes or more.
  private func heavy(_ size: Int, change: (inout NotificationInfo) -> Void = { _ in })
    -> SubscriptionNotification
  {
    let filler = String(repeating: "x", count: size)
    let info = NotificationFixture.info {
      $0.titleLocalizationKey = filler
      $0.subtitle = filler
      $0.alertLocalizationKey = filler
      $0.alertLocalizationArgs = ["a"]
      $0.alertActionLocalizationKey = filler
      $0.alertLaunchImage = filler
      $0.soundName = filler
      $0.category = filler
      $0.shouldBadge = true
      $0.desiredKeys = ["a"]
      change(&$0)
    }
    return NotificationFixture.query(info, fields: ["a": .string("value")])
  }

  @Test("what fits is whole")
  func fits() {
    let payload = PushPayload(heavy(100), badge: 1, reader: .apns)
    #expect(!payload.isPruned)
    #expect(payload.prunedParts.isEmpty)
    #expect(!payload.text.contains(#""p":1"#))
  }

  @Test("a payload of exactly the limit is whole, one byte more prunes it")
  func limit() {
    func payload(_ count: Int) -> PushPayload {
      let info = NotificationFixture.info {
        $0.alertBody = String(repeating: "x", count: count)
        $0.desiredKeys = ["a"]
      }
      return PushPayload(
        NotificationFixture.query(info, fields: ["a": .int64(1)]), badge: nil, reader: .apns)
    }
    let rest = payload(0).bytes.count
    let full = payload(4096 - rest)
    #expect(full.bytes.count == 4096)
    #expect(!full.isPruned)
    let over = payload(4096 - rest + 1)
    #expect(over.isPruned)
    #expect(over.prunedParts.map(\.description) == ["values of desired keys"])
    #expect(over.bytes.count < 4096)
  }

  @Test("parts go in the documented order and no sooner than they must")
  func order() {
    let order = PushPayloadPart.inPruningOrder
    var counts: Set<Int> = []
    for size in stride(from: 400, through: 4400, by: 20) {
      let payload = PushPayload(heavy(size), badge: 1, reader: .apns)
      #expect(payload.bytes.count <= 4096)
      let expected = order.filter { payload.prunedParts.contains($0) }
      #expect(payload.prunedParts == expected)
      // The parts that this notification has, up to the last that went.
      let absent = ["end of the body", "end of the title", "body", "subscriber"]
      let present = order.filter { !absent.contains($0.description) }
      #expect(payload.prunedParts == Array(present.prefix(payload.prunedParts.count)), "\(size)")
      counts.insert(payload.prunedParts.count)
    }
    #expect(counts.count > 5)
    #expect(
      order.map(\.description) == [
        "values of desired keys", "record ID or zone ID", "reason", "sound", "launch image",
        "action key", "category", "end of the body", "end of the subtitle", "end of the title",
        "subtitle", "title", "localisation arguments", "localisation key", "body", "badge",
        "subscriber",
      ])
  }

  @Test("what must stay is all that stays in the worst case, and it fits")
  func worstCase() throws {
    let control = String(repeating: "\u{1}", count: 255)
    let info = NotificationFixture.info {
      $0.category = String(repeating: "x", count: 5000)
      $0.alertBody = String(repeating: "x", count: 5000)
    }
    let notification = NotificationFixture.query(info, subscriptionID: control)
    let payload = PushPayload(notification, badge: nil, reader: .apns)
    let ck = try #require(try JSONValue(parsing: payload.text)["ck"])
    #expect(ck["qry"]?["sid"] == .string(control))
    #expect(payload.bytes.count <= 4096)
  }

  @Test(
    "a long body is shortened by whole characters, and the title stays",
    arguments: ["x", "é", "\u{1}", "\\", "\n", "👩‍👩‍👧‍👦"])
  func longBody(character: String) throws {
    let body = String(repeating: character, count: 4000)
    let info = NotificationFixture.info {
      $0.title = "Title"
      $0.subtitle = "Subtitle"
      $0.alertBody = body
    }
    let payload = PushPayload(NotificationFixture.query(info), badge: nil, reader: .apns)
    let json = try JSONValue(parsing: payload.text)
    let alert = try #require(json["aps"]?["alert"])
    #expect(alert["title"] == "Title" && alert["subtitle"] == "Subtitle")
    let rest = try #require(alert["body"]?.string)
    #expect(rest.count >= 100 && body.hasPrefix(rest) && rest.count < body.count)
    #expect(payload.kind == .alert && json["ck"]?["p"] == 1)
    #expect(json["ck"]?["cid"] != nil)
    #expect(payload.bytes.count <= 4096)
    // No more goes than must: one more character would be too much.
    let size = JSONWriter.size(of: character)
    #expect(
      payload.bytes.count > 4096 - size && size == JSONValue.string(character).text.utf8.count - 2)
    #expect(
      payload.prunedParts.map(\.description) == [
        "record ID or zone ID", "reason", "end of the body",
      ])
  }

  @Test("a long title leaves the body 100 characters, and is shortened before it goes")
  func longTitle() throws {
    let info = NotificationFixture.info {
      $0.title = String(repeating: "t", count: 4000)
      $0.alertBody = String(repeating: "b", count: 4000)
    }
    let payload = PushPayload(NotificationFixture.query(info), badge: nil, reader: .apns)
    let alert = try #require(try JSONValue(parsing: payload.text)["aps"]?["alert"])
    #expect(alert["body"]?.string == String(repeating: "b", count: 100))
    #expect(try #require(alert["title"]?.string).count > 3500)
    #expect(payload.bytes.count == 4096)
    #expect(
      payload.prunedParts.map(\.description) == [
        "record ID or zone ID", "reason", "end of the body", "end of the title",
      ])
  }

  @Test(
    "a shortened body gets back what a title leaves that goes as a whole", arguments: [500, 4000])
  func bodyGrowsAgain(length: Int) throws {
    let body = String(repeating: "b", count: length)
    let info = NotificationFixture.info {
      $0.titleLocalizationKey = String(repeating: "t", count: 3820)
      $0.alertBody = body
    }
    let payload = PushPayload(NotificationFixture.query(info), badge: nil, reader: .apns)
    let rest = try #require(try JSONValue(parsing: payload.text)["aps"]?["alert"]?.string)
    #expect(payload.prunedParts.contains { $0.description == "title" })
    if length == 500 {
      #expect(rest == body && !payload.prunedParts.contains { $0.description == "end of the body" })
    } else {
      #expect(payload.bytes.count == 4096 && body.hasPrefix(rest))
    }
  }

  @Test(
    "a save refuses a text that is too long even by itself, and takes one that a push can hold",
    arguments: ["title", "subtitle", "alertBody"])
  func refusedAtSave(kind: String) throws {
    let keys: [String: WritableKeyPath<NotificationInfo, String?>] = [
      "title": \.titleLocalizationKey, "subtitle": \.subtitleLocalizationKey,
      "alertBody": \.alertLocalizationKey,
    ]
    let key = try #require(keys[kind])
    let text = try #require(NotificationInfo.texts.first { $0.name == kind }).text
    func payload(_ info: NotificationInfo) throws -> PushPayload {
      let notification = NotificationFixture.query(info)
      try notification.subscription.validate(
        of: NotificationFixture.user, in: notification.database)
      return PushPayload(notification, badge: nil, reader: .apns)
    }
    var longest = 0
    for length in stride(from: 3700, through: 4096, by: 1) {
      let info = NotificationFixture.info {
        $0[keyPath: key] = String(repeating: "k", count: length)
      }
      do {
        let payload = try payload(info)
        #expect(payload.kind == .alert, "\(length)")
        longest = length
      } catch let error as ModelError {
        #expect(error.field?.hasSuffix("LocalizationKey") == true)
        #expect(error.reason.contains("\(length) bytes"))
      }
    }
    #expect((3800..<3950).contains(longest))
    // Beside a short text of another part, what a save takes is still shown.
    let info = NotificationFixture.info {
      $0[keyPath: key] = String(repeating: "k", count: longest)
      $0.soundName = "Purr"
    }
    #expect(try payload(info).kind == .alert)
    // A plain text is shortened, so a save takes it.
    let plain = NotificationFixture.info {
      $0[keyPath: text] = String(repeating: "\\", count: 4000)
    }
    #expect(try payload(plain).kind == .alert)
  }

  @Test("the text of the action goes with its key")
  func action() {
    let part = PushPayloadPart.inPruningOrder.first { $0.description == "action key" }
    var content = PushPayloadContent(
      NotificationFixture.query(
        NotificationFixture.info { $0.alertActionLocalizationKey = "OPEN" }),
      badge: nil, reader: .apns)
    content.alert.action = "Open"
    part?.remove(&content, 1)
    #expect(content.alert.isEmpty && content.alert.action == nil)
  }

  @Test("a push that lost all it shows becomes a background push")
  func becomesBackground() throws {
    let info = NotificationFixture.info {
      $0.alertLocalizationKey = String(repeating: "é", count: 3000)
    }
    let notification = NotificationFixture.query(info)
    let payload = PushPayload(notification, badge: nil, reader: .apns)
    #expect(payload.kind == .background)
    #expect(try JSONValue(parsing: payload.text)["aps"] == ["content-available": 1])
    let push = Push(
      notification, payload: payload, deviceToken: "AB", topic: "t", issued: .now)
    #expect(push.kind == .background)
  }

  @Test("a zone push loses its zone, and keeps the container identifier")
  func zone() throws {
    let zoneID = ZoneID(zoneName: "Notes")
    let info = NotificationFixture.info { $0.soundName = String(repeating: "s", count: 4090) }
    let notification = NotificationFixture.notification(
      kind: .recordZone(zoneID, recordType: nil), info, event: .recordCreated, scope: .private,
      zoneID: zoneID, subscriptionID: "notes-zone")
    let payload = PushPayload(notification, badge: nil, reader: .apns)
    #expect(
      payload.prunedParts.map(\.description) == [
        "record ID or zone ID", "sound",
      ])
    #expect(
      try JSONValue(parsing: payload.text)["ck"]?["fet"] == ["sid": "notes-zone", "dbs": 1])
  }

  @Test("the courier's object is never pruned")
  func courier() {
    let payload = PushPayload(heavy(5000), badge: 1, reader: .courier)
    #expect(payload.bytes.count > 30_000)
    #expect(!payload.isPruned)
  }
}
