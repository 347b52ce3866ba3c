import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

struct TaggedRowTests {
  // MARK: What is written is read

  @Test("random subscriptions are read as they were written", arguments: Seeds.some(10))
  func roundTrip(_ seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    for round in 0..<300 {
      let subscription = Self.subscription(&random)
      let row = subscription.row()
      #expect(try Subscription(row: row) == subscription, "seed \(seed), round \(round)")
      let projection = try Subscription(row: row, only: Subscription.kindTags)
      #expect(projection.kind == subscription.kind, "seed \(seed), round \(round)")
      #expect(projection.subscriptionID == "" && projection.notificationInfo == nil)
    }
  }

  @Test("numbers and texts of every size are read as they were written")
  func sizes() throws {
    for length in [0, 1, 126, 127, 128, 129, 16_382, 16_383, 16_384, 70_000] {
      var sample = Newer.blank
      sample.text = String(repeating: "t", count: length)
      sample.inner = Inner(name: sample.text, size: .max)
      sample.list = ["", sample.text]
      #expect(try Newer(row: sample.row()) == sample, "length \(length)")
    }
    for shift in 0..<63 {
      for number in [Int64(1) << shift, -(1 << shift)] {
        var sample = Newer.blank
        sample.number = number
        #expect(try Newer(row: sample.row()) == sample)
      }
    }
  }

  // MARK: Old and new programs

  @Test("a program skips fields that it does not know, whatever is in them")
  func unknownFields() throws {
    let newer = Newer(
      text: "t", inner: Inner(name: "n", size: 5), number: -3, isMarked: true, distance: 1.5,
      list: ["a", ""], last: "z")
    let older = try Older(row: newer.row())
    #expect(older == Older(text: "t", inner: OlderInner(name: "n"), last: "z"))
  }

  @Test("a row from before a field has the field's default")
  func missingFields() throws {
    let older = Older(text: "t", inner: OlderInner(name: "n"), last: nil)
    let newer = try Newer(row: older.row())
    #expect(
      newer
        == Newer(
          text: "t", inner: Inner(name: "n", size: 7), number: 0, isMarked: true, distance: nil,
          list: nil, last: nil))
    // So a row that nothing was added to is the same for both.
    #expect(newer.row() == older.row())
  }

  @Test("a subscription with a field of a newer program is read by an older one")
  func newerSubscription() throws {
    let subscription = noteSubscription("s", badge: true)
    var row = subscription.row()
    // In front of the end: the tag 40, with four bytes.
    row.insert(contentsOf: [0xA2, 0x01, 4, 1, 2, 3, 4], at: row.count - 1)
    #expect(try Subscription(row: row) == subscription)
    #expect(try Subscription(row: row, only: Subscription.kindTags).kind == subscription.kind)
  }

  @Test("a list that is empty is not one that is not there")
  func emptyLists() throws {
    for keys: [String]? in [nil, [], [""]] {
      var subscription = noteSubscription("s")
      subscription.notificationInfo = NotificationInfo()
      subscription.notificationInfo?.desiredKeys = keys
      let read = try Subscription(row: subscription.row())
      #expect(read.notificationInfo?.desiredKeys == keys)
    }
  }

  // MARK: Damage

  private static func failure(_ row: [UInt8], named name: String? = nil) -> String {
    do {
      return "reads \(try Subscription(row: row, named: name))"
    } catch let error as StoreError {
      return error.code == .corrupt ? error.reason : "\(error.code)"
    } catch {
      return "\(error)"
    }
  }

  @Test("an error names the row, and the field that is damaged")
  func names() {
    let subscription = noteSubscription(
      "s", filters: [Filter(.field("a"), .beginsWith, .string("A"))], badge: true)
    var row = subscription.row()
    let comparator = Array("BEGINS_WITH".utf8)
    let place = row.indices.first { row[$0...].starts(with: comparator) }!
    row[place] = UInt8(ascii: "Z")
    let reason = Self.failure(row, named: "s")
    #expect(
      reason.hasPrefix(
        "the stored subscription 's': field 'comparator' (filter) has the unknown comparator "
          + "'ZEGINS_WITH'"), "\(reason)")
  }

  @Test("a row without a field that each row has is corrupt, and so is one with two kinds")
  func incomplete() {
    let version = RowEncoder.version
    #expect(
      Self.failure([version, 0]).contains("field 'subscriptionID' (subscription) is missing"))
    let id: [UInt8] = [1 << 2 | 2, 1, 0x73]
    let database: [UInt8] = [4 << 2 | 2, 0]
    let zone: [UInt8] = [3 << 2 | 2, 6, 1 << 2 | 2, 4, 1, 0x7A, 1, 0x6F]
    #expect(Self.failure([version] + id + [0]).contains("has 0 of the known kinds"))
    #expect(
      Self.failure([version] + id + zone + database + [0]).contains("has 2 of the known kinds"))
    #expect(Self.failure([version] + id + database + [0]).hasPrefix("reads "))
    #expect(Self.failure([version] + id + zone + [0]).hasPrefix("reads "))
  }

  @Test("fields out of order, twice, or with content of another kind are corrupt")
  func disorder() {
    let version = RowEncoder.version
    let id: [UInt8] = [1 << 2 | 2, 1, 0x73]
    let database: [UInt8] = [4 << 2 | 2, 0]
    #expect(Self.failure([version] + database + id + [0]).contains("is missing"))
    #expect(Self.failure([version] + id + id + database + [0]).contains("has the unexpected key"))
    #expect(
      Self.failure([version, 1 << 2, 5] + database + [0]).contains(
        "field 'subscriptionID' (subscription) has content of an unexpected type"))
    #expect(
      Self.failure([version] + id + database + [6 << 2 | 3, 0]).contains("has the unexpected key"))
  }

  @Test("a row that is cut, or has bytes left over, is corrupt")
  func cut() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<20 {
      let row = Self.subscription(&random).row()
      for count in row.indices {
        #expect(throws: StoreError.self) { try Subscription(row: Array(row.prefix(count))) }
        #expect(throws: StoreError.self) {
          try Subscription(row: Array(row.prefix(count)), only: Subscription.kindTags)
        }
      }
      #expect(throws: StoreError.self) { try Subscription(row: row + [0]) }
    }
  }

  @Test("mutated rows are read or refused as corrupt, and never trap", arguments: Seeds.some(4))
  func mutated(_ seed: Int) {
    var random = SeededGenerator(seed: seed)
    for round in 0..<5_000 {
      var row = Self.subscription(&random).row()
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<row.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: row[place] = UInt8.random(in: 0...255, using: &random)
        case 1: row[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        default: row.remove(at: place)
        }
      }
      do {
        // What can be read can be written again.
        _ = try Subscription(row: row).row()
      } catch {
        #expect((error as? StoreError)?.code == .corrupt, "seed \(seed), round \(round)")
      }
    }
  }
}

// MARK: Samples

extension TaggedRowTests {
  private static func text(_ random: inout SeededGenerator) -> String {
    let length = random.chance(1, in: 20) ? 200 : Int.random(in: 0..<12, using: &random)
    return String((0..<length).map { _ in "abé漢 \u{1F600}".randomElement(using: &random)! })
  }

  private static func maybe<Part>(
    _ random: inout SeededGenerator, _ make: (inout SeededGenerator) -> Part
  ) -> Part? {
    random.chance(1, in: 2) ? make(&random) : nil
  }

  private static func texts(_ random: inout SeededGenerator) -> [String] {
    (0..<Int.random(in: 0..<4, using: &random)).map { _ in text(&random) }
  }

  private static func zoneID(_ random: inout SeededGenerator) -> ZoneID {
    ZoneID(zoneName: text(&random), ownerName: text(&random))
  }

  private static func location(_ random: inout SeededGenerator) -> Location {
    Location(
      latitude: Double.random(in: -90...90, using: &random),
      longitude: Double.random(in: -180...180, using: &random))
  }

  private static func key(_ random: inout SeededGenerator) -> FieldKey {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: .field(text(&random))
    case 1: .system(SystemField.allCases.randomElement(using: &random)!)
    default: .allText
    }
  }

  private static func value(_ random: inout SeededGenerator) -> RecordValue {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: .string(text(&random))
    case 1: .int64(Int64.random(in: .min ... .max, using: &random))
    case 2: .double(Double.random(in: -1e9...1e9, using: &random))
    case 3: .location(location(&random))
    case 4: .reference(Reference(recordName: text(&random), zoneID: maybe(&random, zoneID)))
    case 5: date(&random)
    case 6: .list(of: .timestamp, [date(&random), date(&random)])
    default: .list(of: .string, texts(&random).map { .string($0) })
    }
  }

  /// A date of whole milliseconds, or with a part of one.
  private static func date(_ random: inout SeededGenerator) -> RecordValue {
    RecordValue(
      preciselyEncoding: Date(
        timeIntervalSince1970: Double(Int64.random(in: -9...9, using: &random)) / 2_500))
  }

  private static func filter(_ random: inout SeededGenerator) -> Filter {
    Filter(
      key(&random), Comparator.allCases.randomElement(using: &random)!, maybe(&random, value),
      distance: maybe(&random) { Double.random(in: 0...1e6, using: &$0) },
      options: Filter.Options(rawValue: UInt8.random(in: 0...3, using: &random)))
  }

  private static func sortKey(_ random: inout SeededGenerator) -> SortKey {
    SortKey(
      key(&random), ascending: random.chance(1, in: 2),
      relativeLocation: maybe(&random, location))
  }

  private static func info(_ random: inout SeededGenerator) -> NotificationInfo {
    var info = NotificationInfo()
    info.alertBody = maybe(&random, text)
    info.alertLocalizationKey = maybe(&random, text)
    info.alertLocalizationArgs = maybe(&random, texts)
    info.title = maybe(&random, text)
    info.titleLocalizationKey = maybe(&random, text)
    info.titleLocalizationArgs = maybe(&random, texts)
    info.subtitle = maybe(&random, text)
    info.subtitleLocalizationKey = maybe(&random, text)
    info.subtitleLocalizationArgs = maybe(&random, texts)
    info.alertActionLocalizationKey = maybe(&random, text)
    info.alertLaunchImage = maybe(&random, text)
    info.soundName = maybe(&random, text)
    info.desiredKeys = maybe(&random, texts)
    info.shouldBadge = random.chance(1, in: 2)
    info.shouldSendContentAvailable = random.chance(1, in: 2)
    info.shouldSendMutableContent = random.chance(1, in: 2)
    info.category = maybe(&random, text)
    info.collapseIDKey = maybe(&random, text)
    return info
  }

  private static func kind(_ random: inout SeededGenerator) -> Subscription.Kind {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .database(recordType: maybe(&random, text))
    case 1: return .recordZone(zoneID(&random), recordType: maybe(&random, text))
    default:
      let query = Query(
        recordType: text(&random),
        filters: (0..<Int.random(in: 0..<4, using: &random)).map { _ in filter(&random) },
        sortKeys: (0..<Int.random(in: 0..<3, using: &random)).map { _ in sortKey(&random) })
      return .query(
        query, zoneID: maybe(&random, zoneID),
        options: Subscription.Options(rawValue: UInt.random(in: 0...15, using: &random)))
    }
  }

  fileprivate static func subscription(_ random: inout SeededGenerator) -> Subscription {
    Subscription(
      subscriptionID: text(&random), kind: kind(&random), notificationInfo: maybe(&random, info))
  }
}

/// A row as an older program knows it.
private struct Older: RowCodable {
  var text: String
  var inner: OlderInner
  var last: String?

  static let rowName: StaticString = "sample"
  static let blank = Older(text: "", inner: .blank)

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.required(1, "text", &text)
    try coder.required(2, "inner", &inner)
    try coder.field(40, "last", &last)
  }
}

private struct OlderInner: RowCodable {
  var name: String

  static let rowName: StaticString = "inner sample"
  static let blank = OlderInner(name: "")

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.required(1, "name", &name)
  }
}

/// The same with fields between and behind those.
private struct Newer: RowCodable {
  var text: String
  var inner: Inner
  var number: Int64 = 0
  var isMarked = true
  var distance: Double?
  var list: [String]?
  var last: String?

  static let rowName: StaticString = "sample"
  static let blank = Newer(text: "", inner: .blank)

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.required(1, "text", &text)
    try coder.required(2, "inner", &inner)
    try coder.field(3, "number", &number, default: 0)
    try coder.field(4, "isMarked", &isMarked, default: true)
    try coder.field(5, "distance", &distance)
    try coder.field(31, "list", &list)
    try coder.field(40, "last", &last)
  }
}

private struct Inner: RowCodable {
  var name: String
  var size: Int64 = 7

  static let rowName: StaticString = "inner sample"
  static let blank = Inner(name: "")

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.required(1, "name", &name)
    try coder.field(2, "size", &size, default: 7)
  }
}
