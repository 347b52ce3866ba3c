import CloudKitModel
import Foundation
import PropertyTesting

/// Random notifications: any mixture of properties, with texts that are hard on JSON and on limits.
struct RandomNotification {
  var generator: SeededGenerator

  init(seed: Int) {
    generator = SeededGenerator(seed: seed)
  }

  private static let pieces = [
    "a", "Bula vinaka ", "\"", "\\", "\u{0}", "\u{1F}", "\n", "\u{7F}", "é", "e\u{301}", "👨‍👩‍👧‍👦", "🇫🇯",
    "\u{2028}", "海", "%1$@", "</script>", "z\u{334}\u{335}\u{336}\u{337}\u{338}\u{339}",
  ]
  private static let fieldNames = ["a", "b", "c", "d", "e", "absent"]

  mutating func text() -> String {
    let piece = Self.pieces.randomElement(using: &generator)!
    let count: Int
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: count = 0
    case 1...5: count = Int.random(in: 1...20, using: &generator)
    case 6...8: count = Int.random(in: 50...300, using: &generator)
    default: count = Int.random(in: 300...6000, using: &generator)
    }
    var text = String(repeating: piece, count: count)
    if generator.chance(1, in: 2) { text += Self.pieces.randomElement(using: &generator)! }
    return text
  }

  private mutating func maybe<Value>(_ make: (inout RandomNotification) -> Value) -> Value? {
    generator.chance(1, in: 3) ? make(&self) : nil
  }

  /// A text with a length in bytes that the rules for names allow.
  private mutating func name(_ limit: Int = 255) -> String {
    var name = "n"
    for character in text() where name.utf8.count + character.utf8.count <= limit {
      name.append(character)
    }
    return name
  }

  private mutating func names() -> [String] {
    (0..<Int.random(in: 0...4, using: &generator)).map { _ in
      Self.fieldNames.randomElement(using: &generator)!
    }
  }

  /// A name without the character U+0000: no request comes in with one that has it.
  private mutating func savedName() -> String { name().replacing("\u{0}", with: "0") }

  private mutating func zoneID() -> ZoneID { ZoneID(zoneName: savedName()) }

  private mutating func value() -> RecordValue {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0...3: .string(text())
    case 4: .int64(.random(in: .min ... .max, using: &generator))
    case 5: .double(Double(bitPattern: generator.next()))
    case 6: .timestamp(Timestamp(milliseconds: .random(in: -1 << 50...1 << 50, using: &generator)))
    case 7: .location(Location(latitude: 12.5, longitude: -0.25))
    case 8: .reference(Reference(recordName: savedName(), zoneID: maybe { $0.zoneID() }))
    default:
      [
        .bytes(Data([1, 2, 3])), .list(of: .timestamp, [.timestamp(Timestamp(milliseconds: 5))]),
        .asset(Asset(fileChecksum: "sum", size: 3)),
      ].randomElement(using: &generator)!
    }
  }

  private mutating func info() -> NotificationInfo {
    var info = NotificationInfo()
    info.alertBody = maybe { $0.text() }
    info.alertLocalizationKey = maybe { $0.text() }
    info.alertLocalizationArgs = maybe { $0.names() }
    info.title = maybe { $0.text() }
    info.titleLocalizationKey = maybe { $0.text() }
    info.titleLocalizationArgs = maybe { $0.names() }
    info.subtitle = maybe { $0.text() }
    info.subtitleLocalizationKey = maybe { $0.text() }
    info.subtitleLocalizationArgs = maybe { $0.names() }
    info.alertActionLocalizationKey = maybe { $0.text() }
    info.alertLaunchImage = maybe { $0.text() }
    info.soundName = maybe { $0.text() }
    info.desiredKeys = maybe { $0.names() }
    info.shouldBadge = generator.chance(1, in: 2)
    info.shouldSendContentAvailable = generator.chance(1, in: 2)
    info.shouldSendMutableContent = generator.chance(1, in: 2)
    info.category = maybe { $0.text() }
    info.collapseIDKey = maybe { $0.text() }
    return info
  }

  mutating func next() -> SubscriptionNotification {
    let zoneID = ZoneID(
      zoneName: generator.chance(1, in: 3) ? ZoneID.defaultZoneName : savedName(),
      ownerName: generator.chance(1, in: 2) ? ZoneID.currentOwnerName : savedName())
    let kinds: [Subscription.Kind] = [
      .query(Query(recordType: "Art"), zoneID: nil, options: .events),
      .recordZone(zoneID, recordType: nil), .database(recordType: nil),
    ]
    let kind = kinds.randomElement(using: &generator)!
    var events: [ChangeEvent] = [.recordCreated, .recordUpdated, .recordDeleted]
    if case .query = kind {} else { events += [.zoneCreated, .zoneDeleted] }
    let event = events.randomElement(using: &generator)!
    var record: Record?
    if event.queryOption != nil {
      var fields: RecordFields<RecordValue> = [:]
      for field in Self.fieldNames where field != "absent" {
        if generator.chance(3, in: 4) { fields[field] = value() }
      }
      record = Record(
        recordID: RecordID(recordName: name(), zoneID: zoneID), recordType: "Art",
        fields: fields)
    }
    return SubscriptionNotification(
      database: DatabaseAddress(
        container: "iCloud." + name(), environment: .development,
        scope: DatabaseScope.allCases.randomElement(using: &generator)!,
        owner: maybe { $0.savedName() }),
      // A user record name is the server's own, but its length is checked nowhere.
      subscriber: generator.chance(1, in: 10)
        ? "u" + text().replacing("\u{0}", with: "0") : savedName(),
      subscription: Subscription(
        subscriptionID: name(), kind: kind,
        notificationInfo: generator.chance(9, in: 10) ? info() : nil),
      change: Change(
        event: event, zoneID: zoneID, record: record,
        notificationID: UUID(
          uuid: (
            UInt8.random(in: 0...255, using: &generator), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
            14,
            15, 16
          )),
        timestamp: Timestamp(milliseconds: 1_767_225_600_000)),
      carriesLastValues: generator.chance(1, in: 4))
  }
}
