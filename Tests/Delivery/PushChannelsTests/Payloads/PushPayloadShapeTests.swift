import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import PushChannels

struct PushPayloadShapeTests {
  private func text(
    _ notification: SubscriptionNotification, badge: Int? = nil, reader: PushPayload.Reader = .apns
  ) -> String {
    PushPayload(notification, badge: badge, reader: reader).text
  }

  private func json(
    _ notification: SubscriptionNotification, badge: Int? = nil, reader: PushPayload.Reader = .apns
  ) throws -> JSONValue {
    try JSONValue(parsing: text(notification, badge: badge, reader: reader))
  }

  @Test("a query push has every part in its place, byte for byte")
  func query() {
    let info = NotificationFixture.info {
      $0.title = "Art"
      $0.alertBody = "New artwork"
      $0.shouldBadge = true
      $0.soundName = "default"
      $0.category = "ART"
      $0.shouldSendContentAvailable = true
      $0.shouldSendMutableContent = true
      $0.desiredKeys = ["title"]
    }
    let notification = NotificationFixture.query(info, fields: ["title": .string("Mona")])
    #expect(
      text(notification, badge: 3)
        == #"{"aps":{"alert":{"title":"Art","body":"New artwork"},"badge":3,"sound":"default","#
        + #""category":"ART","content-available":1,"mutable-content":1},"#
        + #""ck":{"ce":2,"cid":"iCloud.com.example.app","#
        + #""ckuserid":"_0123456789abcdef0123456789abcdef","#
        + #""nid":"0b6c2f0e-51d4-4b61-9c1e-3d1f2a5b7c90","aux":{},"#
        + #""qry":{"sid":"new-art","dbs":2,"fo":1,"rid":"ART-1","zid":"_defaultZone","#
        + #""zoid":"_defaultOwner","af":{"title":"Mona"}}}}"#)
  }

  @Test("a record-zone push has fet and the owner's name, byte for byte")
  func recordZone() {
    let zoneID = ZoneID(zoneName: "Notes")
    let notification = NotificationFixture.notification(
      kind: .recordZone(zoneID, recordType: nil),
      NotificationFixture.info { $0.shouldSendContentAvailable = true }, event: .recordUpdated,
      scope: .private, zoneID: zoneID, subscriptionID: "notes-zone")
    #expect(
      text(notification)
        == #"{"aps":{"content-available":1},"ck":{"ce":2,"cid":"iCloud.com.example.app","#
        + #""ckuserid":"_0123456789abcdef0123456789abcdef","#
        + #""nid":"0b6c2f0e-51d4-4b61-9c1e-3d1f2a5b7c90","aux":{},"#
        + #""fet":{"sid":"notes-zone","dbs":1,"zid":"Notes","#
        + #""zoid":"_0123456789abcdef0123456789abcdef"}}}"#)
  }

  @Test(
    "a database push has met, for changes of records and of zones",
    arguments: [ChangeEvent.recordCreated, .zoneCreated, .zoneDeleted])
  func database(event: ChangeEvent) throws {
    let notification = NotificationFixture.notification(
      kind: .database(recordType: nil), nil, event: event, scope: .shared,
      zoneID: ZoneID(zoneName: "Family", ownerName: "_aunt"), subscriptionID: "shared-changes",
      environment: .production)
    let ck = try #require(try json(notification)["ck"])
    #expect(ck["ce"] == 1)
    #expect(
      ck["met"] == ["sid": "shared-changes", "dbs": 3, "zid": "Family", "zoid": "_aunt"])
  }

  @Test("a body alone is a plain string")
  func bodyAlone() throws {
    let info = NotificationFixture.info { $0.alertBody = "Changed" }
    #expect(try json(NotificationFixture.query(info))["aps"] == ["alert": "Changed"])
  }

  @Test("localisation keys displace the texts, and their arguments are the fields' values")
  func localisation() throws {
    let info = NotificationFixture.info {
      $0.alertBody = "not sent"
      $0.alertLocalizationKey = "BODY"
      $0.alertLocalizationArgs = ["name", "count", "ratio", "when", "missing", "place", "name"]
      $0.title = "not sent"
      $0.titleLocalizationKey = "TITLE"
      $0.titleLocalizationArgs = ["name"]
      $0.subtitle = "not sent"
      $0.subtitleLocalizationKey = "SUBTITLE"
      $0.subtitleLocalizationArgs = []
      $0.alertActionLocalizationKey = "SHOW"
      $0.alertLaunchImage = "art.png"
    }
    let notification = NotificationFixture.query(
      info,
      fields: [
        "name": .string("Mona"), "count": .int64(-7), "ratio": .double(0.1),
        "when": .timestamp(Timestamp(milliseconds: 1_767_225_600_123)),
        "place": .location(Location(latitude: 1, longitude: 2)),
      ])
    #expect(
      try json(notification)["aps"]?["alert"] == [
        "title-loc-key": "TITLE", "title-loc-args": ["Mona"],
        "subtitle-loc-key": "SUBTITLE", "subtitle-loc-args": [],
        "loc-key": "BODY",
        "loc-args": ["Mona", "-7", "0.1", "2026-01-01T00:00:00.123Z", "", "", "Mona"],
        "action-loc-key": "SHOW", "launch-image": "art.png",
      ])
  }

  @Test("arguments without a key are not sent")
  func argumentsWithoutKey() throws {
    let info = NotificationFixture.info {
      $0.alertBody = "Changed"
      $0.alertLocalizationArgs = ["name"]
    }
    let notification = NotificationFixture.query(info, fields: ["name": .string("Mona")])
    #expect(try json(notification)["aps"]?["alert"] == "Changed")
  }

  @Test("the badge is sent only if the subscription asks for it and a number is given")
  func badge() throws {
    let asking = NotificationFixture.query(NotificationFixture.info { $0.shouldBadge = true })
    let silent = NotificationFixture.query(NotificationFixture.info { $0.soundName = "default" })
    #expect(try json(asking, badge: 0)["aps"] == ["badge": 0])
    #expect(try json(asking)["aps"] == ["content-available": 1])
    #expect(try json(silent, badge: 4)["aps"] == ["sound": "default"])
  }

  @Test("what shows nothing wakes the app")
  func nothingToShow() throws {
    let category = NotificationFixture.query(NotificationFixture.info { $0.category = "ART" })
    #expect(try json(category)["aps"] == ["category": "ART", "content-available": 1])
    #expect(try json(NotificationFixture.query(nil))["aps"] == ["content-available": 1])
  }

  @Test("without notification info the courier's object has no aps")
  func courierWithoutInfo() throws {
    let object = try #require(
      try json(NotificationFixture.query(nil), reader: .courier).object)
    #expect(Set(object.keys) == ["ck"])
  }

  @Test("with notification info the courier's object is the push's")
  func courierWithInfo() {
    let notification = NotificationFixture.query(
      NotificationFixture.info { $0.alertBody = "Changed" })
    #expect(text(notification, reader: .courier) == text(notification, reader: .apns))
  }

  @Test("the zone's owner is named as the database asks")
  func zoneOwner() throws {
    func owner(_ scope: DatabaseScope, _ zoneID: ZoneID) throws -> String? {
      let notification = NotificationFixture.query(nil, scope: scope, zoneID: zoneID)
      return try json(notification)["ck"]?["qry"]?["zoid"]?.string
    }
    #expect(try owner(.public, .default) == "_defaultOwner")
    #expect(try owner(.public, ZoneID(zoneName: "Z", ownerName: "_x")) == "_defaultOwner")
    #expect(try owner(.private, .default) == NotificationFixture.user)
    #expect(try owner(.shared, ZoneID(zoneName: "Z", ownerName: "_x")) == "_x")
  }

  @Test("desired keys are flat values of their types")
  func desiredKeys() throws {
    let info = NotificationFixture.info {
      $0.desiredKeys = ["text", "int", "double", "date", "instant", "place", "reference", "none"]
    }
    let notification = NotificationFixture.query(
      info,
      fields: [
        "text": .string("a\u{0}\"\\\u{1F}é"), "int": .int64(.max), "double": .double(5),
        "date": .timestamp(Timestamp(milliseconds: 1_767_225_600_000)),
        "instant": .timestamp(Timestamp(milliseconds: -1)),
        "place": .location(Location(latitude: -18.5, longitude: 178, altitude: 3)),
        "reference": .reference(Reference(recordName: "R")), "other": .string("not asked for"),
      ],
      event: .recordUpdated, scope: .private, zoneID: ZoneID(zoneName: "Notes"))
    let ck = try #require(try json(notification)["ck"])
    #expect(ck["p"] == nil)
    #expect(ck["qry"]?["fo"] == 2)
    #expect(
      ck["qry"]?["af"] == [
        "text": "a\u{0}\"\\\u{1F}é", "int": .int(.max), "double": 5.0, "date": 1_767_225_600,
        "instant": -0.001, "place": ["latitude": -18.5, "longitude": 178.0],
        "reference": [
          "recordName": "R", "zoneName": "Notes", "ownerName": .string(NotificationFixture.user),
        ],
      ])
  }

  @Test(
    "a value that a payload cannot carry is left out, and the payload marked",
    arguments: PushPayload.Reader.allCases)
  func unsendable(reader: PushPayload.Reader) throws {
    let values: [RecordValue] = [
      .bytes(Data([1])), .asset(Asset(fileChecksum: "c", size: 1)),
      .list(of: .int64, [.int64(1)]), .double(.nan), .double(.infinity),
    ]
    for value in values {
      let info = NotificationFixture.info { $0.desiredKeys = ["good", "bad", "good"] }
      let notification = NotificationFixture.query(
        info, fields: ["good": .int64(1), "bad": value])
      let payload = PushPayload(notification, badge: nil, reader: reader)
      let ck = try #require(try JSONValue(parsing: payload.text)["ck"])
      let isMissing = reader != .log || value.type.element == .asset
      #expect(ck["qry"]?["af"] == (reader == .log ? nil : ["good": 1]), "\(value)")
      #expect(ck["p"] == (isMissing ? 1 : nil), "\(value)")
      #expect(
        payload.prunedParts.map(\.description)
          == (isMissing ? ["values that no push can carry"] : []))
      let logged = notification.loggedValues
      #expect(logged["good"] == .int64(1) && logged.count == (value.type.element == .asset ? 1 : 2))
    }
  }

  @Test("a deletion carries no desired keys")
  func deletion() throws {
    let info = NotificationFixture.info { $0.desiredKeys = ["title", "bytes"] }
    let notification = NotificationFixture.query(
      info, fields: ["title": .string("Mona"), "bytes": .bytes(Data())], event: .recordDeleted)
    let ck = try #require(try json(notification)["ck"])
    #expect(ck["qry"]?["fo"] == 3)
    #expect(ck["qry"]?["af"] == nil)
    #expect(ck["p"] == nil)
  }

  @Test("strings are cut at 100 characters, never inside one")
  func cut() throws {
    let family = "👨‍👩‍👧‍👦"
    let info = NotificationFixture.info {
      $0.alertLocalizationKey = "K"
      $0.alertLocalizationArgs = ["flag", "short"]
      $0.desiredKeys = ["flag", "long"]
    }
    let notification = NotificationFixture.query(
      info,
      fields: [
        "flag": .string(String(repeating: "🇫🇯", count: 101)),
        "short": .string(String(repeating: family, count: 3)),
        "long": .string(String(repeating: "e\u{301}", count: 99) + "\r\nrest"),
      ])
    let payload = try json(notification)
    let flags = JSONValue.string(String(repeating: "🇫🇯", count: 100))
    #expect(
      payload["aps"]?["alert"]?["loc-args"] == [
        flags, .string(String(repeating: family, count: 3)),
      ])
    #expect(payload["ck"]?["qry"]?["af"]?["flag"] == flags)
    #expect(
      payload["ck"]?["qry"]?["af"]?["long"]
        == .string(String(repeating: "e\u{301}", count: 99) + "\r\n"))
    #expect(payload["ck"]?["p"] == 1)
  }

  @Test("a string that is cut marks the payload, also where only an argument of the alert is")
  func cutMark() {
    for (count, isCut) in [(100, false), (101, true)] {
      let values: RecordFields<RecordValue> = [
        "text": .string(String(repeating: "é", count: count))
      ]
      let infos = [
        NotificationFixture.info { $0.desiredKeys = ["text"] },
        NotificationFixture.info {
          $0.titleLocalizationKey = "K"
          $0.titleLocalizationArgs = ["text"]
        },
      ]
      for info in infos {
        let notification = NotificationFixture.query(info, fields: values)
        let payload = PushPayload(notification, badge: nil, reader: .apns)
        #expect(payload.isPruned == isCut)
        #expect(payload.prunedParts.map(\.description) == (isCut ? ["ends of long strings"] : []))
      }
    }
  }

  @Test("the notification log has strings whole, and no size limit")
  func whole() throws {
    let long = String(repeating: "x", count: 6000)
    let info = NotificationFixture.info {
      $0.alertLocalizationKey = "K"
      $0.alertLocalizationArgs = ["long"]
      $0.desiredKeys = ["long"]
    }
    let notification = NotificationFixture.query(info, fields: ["long": .string(long)])
    let payload = PushPayload(notification, badge: nil, reader: .log)
    #expect(!payload.isPruned && payload.prunedParts.isEmpty)
    let json = try JSONValue(parsing: payload.text)
    #expect(json["aps"]?["alert"]?["loc-args"] == [.string(long)])
    #expect(notification.loggedValues == ["long": .string(long)])
    #expect(json["ck"]?["qry"]?["af"] == nil && json["ck"]?["p"] == nil)
  }
}
