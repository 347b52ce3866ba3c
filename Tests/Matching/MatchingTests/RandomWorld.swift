import CloudKitModel
import Foundation
import PropertyTesting

/// A small made-up schema with subscriptions and changes, drawn from few values so that they meet
/// often; among them those on which equality, order and folding are easily got wrong.
struct RandomWorld {
  var generator: SeededGenerator
  /// The type of each field, by name.
  let schema: [String: FieldType]
  let recordTypes: [String]
  let zones = [
    ZoneID.default, ZoneID(zoneName: "work"), ZoneID(zoneName: "home"),
    ZoneID(zoneName: "work", ownerName: "_other"),
  ]
  let subscribers = ["_ann", "_bob", "_cyd"]
  let subscriptionIDs = (0..<25).map { "s\($0)" } + ["caf\u{E9}", "cafe\u{301}"]

  init(seed: Int) {
    generator = SeededGenerator(seed: seed)
    recordTypes = ["Note", "Place"]
    var schema: [String: FieldType] = [:]
    for name in ["a", "b", "c", "d", "e"].prefix(Int.random(in: 1...5, using: &generator)) {
      schema[name] = FieldType(
        generator.pick([
          .string, .string, .int64, .double, .timestamp, .location, .reference,
        ]), isList: generator.chance(1, in: 3))
    }
    self.schema = schema
  }

  static let texts = [
    "", "a", "A", "ab", "Ab", "caf\u{E9}", "cafe\u{301}", "CAFE", "stra\u{DF}e", "STRASSE",
    "the deep sea", "Sea deep", "日本", "и\u{306}", "й", "\u{1F30B}", "of",
  ]
  static let integers: [Int64] = [
    0, 1, -1, 5, 9_007_199_254_740_992, 9_007_199_254_740_993, .max, .min,
  ]
  static let doubles: [Double] = [
    0, -0.0, 1, 5, 5.5, -1, .nan, .infinity, -.infinity, 9_007_199_254_740_992, 0x1p63, -0x1p63,
    .leastNonzeroMagnitude,
  ]
  static let moments: [Int64] = [0, -1, -14_182_940_000, 1_700_000_000_000, .max, .min]
  static let degrees: [Double] = [0, -0.0, 0.01, 90, -90, 179.99, -179.99]
  static let names = ["r1", "r2", "_ann"]

  mutating func value(_ type: ValueType) -> RecordValue {
    switch type {
    case .string: return .string(generator.pick(Self.texts))
    case .int64: return .int64(generator.pick(Self.integers))
    case .double: return .double(generator.pick(Self.doubles))
    case .timestamp: return .timestamp(Timestamp(milliseconds: generator.pick(Self.moments)))
    case .bytes: return .bytes(Data([UInt8.random(in: 0...1, using: &generator)]))
    case .location:
      return .location(
        Location(
          latitude: generator.pick(Self.degrees.filter { abs($0) <= 90 }),
          longitude: generator.pick(Self.degrees),
          altitude: generator.chance(1, in: 2) ? 5 : nil))
    case .reference:
      return .reference(
        Reference(
          recordName: generator.pick(Self.names),
          zoneID: generator.chance(1, in: 2) ? nil : generator.pick(zones),
          action: generator.pick(Reference.Action.allCases)))
    case .asset:
      return .asset(Asset(fileChecksum: generator.pick(["x", "y"]), size: 1))
    }
  }

  /// A value of the type or, at times, of another one.
  mutating func value(like type: FieldType) -> RecordValue {
    var element = type.element
    if generator.chance(1, in: 12) { element = generator.pick(ValueType.allCases) }
    if element.isNumber, generator.chance(1, in: 2) { element = generator.pick([.int64, .double]) }
    return type.isList ? list(of: element) : value(element)
  }

  private mutating func list(of element: ValueType) -> RecordValue {
    let length = generator.pick([0, 1, 1, 2, 2, 3, 4])
    return .list(of: element, (0..<length).map { _ in value(element) })
  }

  mutating func filter() -> Filter {
    if generator.chance(1, in: 60) { return .never }
    let (key, type) = filterKey()
    let comparator = comparator(for: type)
    var wanted: RecordValue?
    switch comparator.relation {
    case .isIn, .listContainsAll, .listContainsAny:
      wanted = value(like: .list(of: type.element))
    case .listContains, .listMemberBeginsWith:
      wanted = value(like: FieldType(type.element))
    case .near: wanted = value(like: FieldType(.location))
    case .containsAllTokens, .containsAnyTokens: wanted = value(like: FieldType(.string))
    case .equals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .beginsWith:
      wanted = value(like: type)
    }
    if generator.chance(1, in: 15) { wanted = nil }
    return Filter(
      key, comparator, wanted,
      distance: comparator == .near ? generator.pick([0, 1_200, 3_000, 2e7]) : nil,
      options: generator.chance(1, in: 3)
        ? Filter.Options(rawValue: generator.pick([1, 2, 3])) : [])
  }

  private mutating func filterKey() -> (FieldKey, FieldType) {
    if generator.chance(1, in: 8) {
      let field = generator.pick(SystemField.allCases)
      let isName = field.type == .string
      let isReference = isName && generator.chance(1, in: 2)
      return (.system(field), FieldType(isReference ? .reference : field.type))
    }
    if generator.chance(1, in: 20) { return (.allText, FieldType(.string)) }
    let name = generator.pick(schema.keys.sorted() + ["missing"])
    return (.field(name), schema[name] ?? FieldType(generator.pick(ValueType.allCases)))
  }

  /// Mostly one that fits the field.
  private mutating func comparator(for type: FieldType) -> CloudKitModel.Comparator {
    if generator.chance(1, in: 6) { return generator.pick(CloudKitModel.Comparator.allCases) }
    var fitting: [CloudKitModel.Comparator]
    if type.isList {
      fitting = [.listContains, .listContainsAll, .listContainsAny, .equals]
      if type.element == .string { fitting += [.listMemberBeginsWith, .containsAnyTokens] }
    } else {
      fitting = [.equals, .equals, .isIn]
      if type.element.isOrdered {
        fitting += [.lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals]
      }
      if type.element == .string {
        fitting += [.beginsWith, .containsAllTokens, .containsAnyTokens]
      }
      if type.element == .location { fitting += [.near, .near] }
    }
    let comparator = generator.pick(fitting)
    return generator.chance(1, in: 3) ? comparator.negation ?? comparator : comparator
  }

  mutating func subscription(id: String) -> Subscription {
    let type = generator.chance(1, in: 2) ? generator.pick(recordTypes) : nil
    let kind: Subscription.Kind
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: kind = .recordZone(generator.pick(zones), recordType: type)
    case 1: kind = .database(recordType: type)
    default:
      var filters = (0..<generator.pick([0, 1, 1, 2, 2, 3])).map { _ in filter() }
      if let first = filters.first {
        if generator.chance(1, in: 6) { filters.append(first) }
        if generator.chance(1, in: 8), let opposite = first.comparator.negation {
          var contradiction = first
          contradiction.comparator = opposite
          filters.append(contradiction)
        }
      }
      kind = .query(
        Query(
          recordType: generator.pick(recordTypes), filters: filters,
          sortKeys: generator.chance(1, in: 4) ? [SortKey(.system(.recordName))] : []),
        zoneID: generator.chance(1, in: 4) ? generator.pick(zones) : nil,
        options: Subscription.Options(rawValue: UInt.random(in: 0...15, using: &generator)))
    }
    return Subscription(subscriptionID: id, kind: kind, notificationInfo: notificationInfo())
  }

  private mutating func notificationInfo() -> NotificationInfo? {
    guard generator.chance(1, in: 2) else { return nil }
    var info = NotificationInfo()
    info.shouldBadge = generator.chance(1, in: 2)
    info.alertBody = generator.pick([nil, "", "caf\u{E9}"])
    info.desiredKeys = generator.pick([nil, [], ["a", "b"]])
    return info
  }

  mutating func change() -> Change {
    let event = generator.pick(
      [.recordCreated, .recordUpdated, .recordDeleted] + ChangeEvent.allCases)
    let zoneID = generator.pick(zones)
    let ofRecord = event.queryOption != nil
    return Change(
      event: event, zoneID: zoneID, record: ofRecord ? record(in: zoneID) : nil,
      notificationID: UUID(), timestamp: Timestamp(milliseconds: 0))
  }

  private mutating func record(in zoneID: ZoneID) -> Record {
    var record = Record(
      recordID: RecordID(recordName: generator.pick(Self.names), zoneID: zoneID),
      recordType: generator.pick(recordTypes))
    for (name, type) in schema.sorted(by: { $0.key < $1.key }) where !generator.chance(1, in: 6) {
      record.fields[name] = value(like: type)
    }
    if generator.chance(1, in: 2) {
      record.recordChangeTag = "a"
      record.created = stamp()
      record.modified = stamp()
    }
    if generator.chance(1, in: 2), case .reference(let parent) = value(.reference) {
      record.parent = parent
    }
    return record
  }

  private mutating func stamp() -> Record.Stamp {
    Record.Stamp(
      timestamp: Timestamp(milliseconds: generator.pick(Self.moments)),
      userRecordName: generator.pick(Self.names))
  }
}
