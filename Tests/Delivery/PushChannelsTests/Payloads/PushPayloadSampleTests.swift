import CloudKit
import CloudKitModel
import PushChannels
import Testing

/// Payloads that apps have received from iCloud, named `S1` to `S9` as in the notes on the format.
/// For the same event, Petrel's payload must have the same members with the same values.
///
/// Petrel always sends `aux`, which older captures lack. The captures do not show the order of the
/// members.
struct PushPayloadSampleTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var notification: SubscriptionNotification
    var badge: Int?
    var reader = PushPayload.Reader.apns
    /// `USER` stands for the user record name.
    var aps: String?
    var kind: String
  }

  private static let sharedZone = ZoneID(zoneName: "Trips", ownerName: "_aunt")

  static let samples = [
    Sample(
      testDescription: "S1: a silent push of the public database",
      notification: NotificationFixture.query(silent),
      aps: #"{"content-available":1}"#,
      kind: #""qry":{"sid":"new-art","dbs":2,"fo":1,"rid":"ART-1","zid":"_defaultZone","#
        + #""zoid":"_defaultOwner"}"#),
    Sample(
      testDescription: "S2a: a silent push of the private database",
      notification: NotificationFixture.query(silent, scope: .private),
      aps: #"{"content-available":1}"#, kind: privateQuery),
    Sample(
      testDescription: "S2b: a text, a badge and a sound",
      notification: NotificationFixture.query(
        NotificationFixture.info {
          $0.alertBody = "Changed"
          $0.shouldBadge = true
          $0.soundName = "default"
        }, scope: .private),
      badge: 180, aps: #"{"alert":"Changed","badge":180,"sound":"default"}"#, kind: privateQuery),
    Sample(
      testDescription: "S2c: a title, a text and values of the record",
      notification: NotificationFixture.query(
        NotificationFixture.info {
          $0.title = "Session"
          $0.alertBody = "Changed"
          $0.desiredKeys = ["ownerEmoji", "ownerName", "sessionReferenceID"]
        },
        fields: [
          "ownerEmoji": .string("🦜"), "ownerName": .string("Ana"),
          "sessionReferenceID": .string("8F"),
        ], scope: .private),
      aps: #"{"alert":{"title":"Session","body":"Changed"}}"#,
      kind: privateQuery.dropLast()
        + #","af":{"ownerEmoji":"🦜","ownerName":"Ana","sessionReferenceID":"8F"}}"#),
    Sample(
      testDescription: "S2d: a title, a subtitle and a text",
      notification: NotificationFixture.query(
        NotificationFixture.info {
          $0.title = "Session"
          $0.subtitle = "Suva"
          $0.alertBody = "Changed"
        }, scope: .private),
      aps: #"{"alert":{"title":"Session","subtitle":"Suva","body":"Changed"}}"#,
      kind: privateQuery),
    Sample(
      testDescription: "S3: a database subscription, at the web courier",
      notification: NotificationFixture.notification(
        kind: .database(recordType: nil), silent, event: .recordUpdated, scope: .private,
        zoneID: ZoneID(zoneName: "com.apple.coredata.cloudkit.zone"),
        subscriptionID: "com.apple.coredata.cloudkit.private.subscription"),
      reader: .courier, aps: #"{"content-available":1}"#,
      kind: #""met":{"sid":"com.apple.coredata.cloudkit.private.subscription","dbs":1,"#
        + #""zid":"com.apple.coredata.cloudkit.zone","zoid":"USER"}"#),
    Sample(
      testDescription: "S5: a query subscription with a text, at the web courier",
      notification: NotificationFixture.query(
        NotificationFixture.info { $0.alertBody = "Changed" }, scope: .private),
      reader: .courier, aps: #"{"alert":"Changed"}"#, kind: privateQuery),
    Sample(
      testDescription: "S5: one without notification info has no aps at the web courier",
      notification: NotificationFixture.query(nil, scope: .private),
      reader: .courier, kind: privateQuery),
    Sample(
      testDescription: "S6: a database subscription",
      notification: NotificationFixture.notification(
        kind: .database(recordType: nil), silent, event: .recordCreated, scope: .private,
        zoneID: ZoneID(zoneName: "Thoughts"), subscriptionID: "PrivateThoughtsZone"),
      aps: #"{"content-available":1}"#,
      kind: #""met":{"sid":"PrivateThoughtsZone","dbs":1,"zid":"Thoughts","zoid":"USER"}"#),
    Sample(
      testDescription: "S7: values of a record of the public database",
      notification: NotificationFixture.query(
        NotificationFixture.info {
          $0.shouldSendContentAvailable = true
          $0.desiredKeys = ["title", "body"]
        }, fields: ["title": .string("Sports day"), "body": .string("On Friday")]),
      aps: #"{"content-available":1}"#,
      kind: #""qry":{"sid":"new-art","dbs":2,"fo":1,"rid":"ART-1","zid":"_defaultZone","#
        + #""zoid":"_defaultOwner","af":{"title":"Sports day","body":"On Friday"}}"#),
    Sample(
      testDescription: "S8: a record-zone subscription of the public database",
      notification: NotificationFixture.notification(
        kind: .recordZone(.default, recordType: nil), silent, event: .recordCreated,
        scope: .public, zoneID: .default, subscriptionID: "zone"),
      aps: #"{"content-available":1}"#,
      kind: #""fet":{"sid":"zone","dbs":2,"zid":"_defaultZone","zoid":"_defaultOwner"}"#),
    Sample(
      testDescription: "S9: a database subscription of the shared database",
      notification: NotificationFixture.notification(
        kind: .database(recordType: nil), silent, event: .recordDeleted, scope: .shared,
        zoneID: sharedZone, subscriptionID: "shared"),
      aps: #"{"content-available":1}"#,
      kind: #""met":{"sid":"shared","dbs":3,"zid":"Trips","zoid":"_aunt"}"#),
    Sample(
      testDescription: "the record-zone push of section 4",
      notification: NotificationFixture.notification(
        kind: .recordZone(ZoneID(zoneName: "Notes"), recordType: nil), silent,
        event: .recordCreated, scope: .private, zoneID: ZoneID(zoneName: "Notes"),
        subscriptionID: "notes-zone"),
      aps: #"{"content-available":1}"#,
      kind: #""fet":{"sid":"notes-zone","dbs":1,"zid":"Notes","zoid":"USER"}"#),
    Sample(
      testDescription: "the database push of section 4",
      notification: NotificationFixture.notification(
        kind: .database(recordType: nil), silent, event: .recordCreated, scope: .private,
        zoneID: ZoneID(zoneName: "Notes"), subscriptionID: "private-changes"),
      aps: #"{"content-available":1}"#,
      kind: #""met":{"sid":"private-changes","dbs":1,"zid":"Notes","zoid":"USER"}"#),
  ]

  private static let silent = NotificationFixture.info { $0.shouldSendContentAvailable = true }
  private static let privateQuery =
    #""qry":{"sid":"new-art","dbs":1,"fo":1,"rid":"ART-1","zid":"_defaultZone","zoid":"USER"}"#

  @available(*, deprecated)
  @Test("are written byte for byte, and read", arguments: samples)
  func sample(_ sample: Sample) throws {
    let payload = PushPayload(sample.notification, badge: sample.badge, reader: sample.reader)
    let aps = sample.aps.map { #""aps":\#($0),"# } ?? ""
    let expected =
      #"{\#(aps)"ck":{"ce":2,"cid":"iCloud.com.example.app","ckuserid":"USER","#
      + #""nid":"0b6c2f0e-51d4-4b61-9c1e-3d1f2a5b7c90","aux":{},\#(sample.kind)}}"#
    #expect(payload.text == expected.replacing("USER", with: NotificationFixture.user))
    let userInfo = try #require(CKNotification.userInfo(parsing: Data(payload.bytes)))
    ExpectedNotification(
      notification: sample.notification, badge: sample.badge, reader: sample.reader, pruned: [],
      readsDoublesExactly: true
    ).verify(
      try #require(CKNotification(fromRemoteNotificationDictionary: userInfo)), isPruned: false,
      "\(sample.testDescription)")
  }
}
