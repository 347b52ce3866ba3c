import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

struct RowCodingTests {
  private let notification: SubscriptionNotification = {
    let location = Location(
      latitude: 1.5, longitude: -2, course: 90, timestamp: .init(.distantPast))
    let zone = ZoneID(zoneName: "z", ownerName: "_o")
    var record = Record(
      recordID: RecordID(recordName: "n", zoneID: zone), recordType: "Note",
      recordChangeTag: "k1",
      created: Record.Stamp(timestamp: .now, userRecordName: "_a", deviceID: "d"),
      modified: Record.Stamp(timestamp: .now, userRecordName: "_b"),
      parent: Reference(recordName: "p", zoneID: zone),
      share: Reference(recordName: "s", action: .validate))
    record.fields = [
      "s": .string("héllo"), "i": .int64(.min), "j": .int64(.max), "d": .double(.infinity),
      "t": .timestamp(.init(milliseconds: -1)), "b": .bytes(Data([0, 1, 255])),
      "l": .location(location), "r": .reference(Reference(recordName: "x", action: .deleteSelf)),
      "a": .asset(
        Asset(
          fileChecksum: "c", size: 5, referenceChecksum: "r", wrappingKey: "w", receipt: "q",
          downloadURL: "u")),
      "list": .list(of: .reference, [.reference(Reference(recordName: "y"))]),
      "empty": .list(of: .double, []),
    ]
    var info = NotificationInfo()
    info.alertBody = "body"
    info.desiredKeys = ["s"]
    info.subtitleLocalizationArgs = []
    info.shouldSendMutableContent = true
    let query = Query(
      recordType: "Note",
      filters: [
        Filter(.field("l"), .near, .location(location), distance: 10),
        Filter(.system(.parent), .notEquals, nil, options: [.caseInsensitive]),
        Filter(.allText, .containsAllTokens, .string("a b")),
      ], sortKeys: [SortKey(.field("l"), ascending: false, relativeLocation: location)])
    return SubscriptionNotification(
      database: TestStore.address(.public), subscriber: "_a",
      subscription: Subscription(
        subscriptionID: "s", kind: .query(query, zoneID: zone, options: [.firesOnRecordUpdate]),
        notificationInfo: info),
      change: Change(
        event: .recordUpdated, zoneID: zone, record: record, notificationID: UUID(),
        timestamp: .now, userRecordName: "_a", deviceID: "d"))
  }()

  private func decode(_ bytes: [UInt8]) throws -> SubscriptionNotification {
    try SubscriptionNotification(
      stored: bytes, database: notification.database, subscriber: notification.subscriber)
  }

  @Test("what is written is read back")
  func roundTrip() throws {
    #expect(try decode(notification.storedContent) == notification)
    for kind: Subscription.Kind in [
      .recordZone(.default, recordType: nil), .database(recordType: "T"),
    ] {
      var other = notification
      other.subscription.kind = kind
      other.subscription.notificationInfo = nil
      other.change = Change(
        event: .zoneDeleted, zoneID: .default, record: nil, notificationID: UUID(),
        timestamp: .now)
      #expect(try decode(other.storedContent) == other)
    }
    var lastWord = notification
    lastWord.carriesLastValues = true
    #expect(try decode(lastWord.storedContent) == lastWord)
  }

  @Test("numbers of every size are read back")
  func numbers() throws {
    var values: [Int64] = [.min, .max, 0]
    for shift in 0..<63 { values += [1 << shift, -(1 << shift), (1 << shift) - 1] }
    var encoder = RowEncoder()
    for value in values { encoder.encode(value) }
    var decoder = try RowDecoder(encoder.bytes, of: "test")
    for value in values { #expect(try decoder.decodeInteger() == value) }
    try decoder.finish()
  }

  @Test("a blob that is cut, or has bytes left over, is corrupt")
  func cut() {
    let bytes = notification.storedContent
    for count in 0..<bytes.count {
      #expect(throws: StoreError.self) { try decode(Array(bytes.prefix(count))) }
    }
    #expect(throws: StoreError.self) { try decode(bytes + [0]) }
  }

  @Test("mutated blobs are read or refused as corrupt, and never trap", arguments: Seeds.some(4))
  func mutated(_ seed: Int) {
    var random = SeededGenerator(seed: seed)
    let original = notification.storedContent
    for round in 0..<5_000 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        default: bytes.remove(at: place)
        }
      }
      do {
        let decoded = try decode(bytes)
        // What can be read can be written again.
        _ = decoded.storedContent
      } catch {
        #expect((error as? StoreError)?.code == .corrupt, "seed \(seed), round \(round)")
      }
    }
  }
}
