import CloudKitModel
import Foundation
import PropertyTesting

/// Random records and queries that have much in common: few values, every type and comparator.
struct QuerySamples {
  var random: SeededGenerator

  static let zones: [ZoneID] = [.default, ZoneID(zoneName: "y"), ZoneID(zoneName: "z")]

  private static let texts =
    [
      "", "a", "ab", "b", "\u{E9}", "Ab", "the deep sea", "deep quake", "Sea, salt & quake",
      "e\u{301}tude",
    ] + ["1", "2", ""].map { String(repeating: "long ", count: 30) + $0 }

  /// The fields of a record and their types.
  static let types: [(String, FieldType)] = [
    ("text", FieldType(.string)), ("count", FieldType(.int64)), ("size", FieldType(.double)),
    ("when", FieldType(.timestamp)), ("place", FieldType(.location)),
    ("target", FieldType(.reference)), ("data", FieldType(.bytes)),
    ("words", .list(of: .string)), ("numbers", .list(of: .int64)),
    ("sizes", .list(of: .double)), ("times", .list(of: .timestamp)),
    ("places", .list(of: .location)), ("targets", .list(of: .reference)),
    ("secret", FieldType(.string)), ("moment", FieldType(.timestamp)),
    ("moments", .list(of: .timestamp)),
  ]

  /// The encrypted fields. No query can name them, and their dates have parts of milliseconds.
  static let encrypted: Set<String> = ["secret", "moment", "moments"]

  mutating func fields() -> RecordFields<RecordValue?> {
    var fields: RecordFields<RecordValue?> = [:]
    for (name, type) in Self.types where random.chance(4, in: 5) {
      var value = self.value(of: type)
      if Self.encrypted.contains(name) { value = precise(value) }
      fields[name] = .some(random.chance(1, in: 9) ? nil : value)
    }
    return fields
  }

  mutating func value(of type: FieldType) -> RecordValue {
    guard !type.isList else {
      return .list(
        of: type.element,
        (0..<Int.random(in: 0...3, using: &random)).map { _ in single(type.element) })
    }
    return single(type.element)
  }

  /// Adds parts of milliseconds to the dates of a value.
  private mutating func precise(_ value: RecordValue) -> RecordValue {
    switch value {
    case .timestamp(let timestamp):
      RecordValue(
        preciselyEncoding: timestamp.date + random.pick([-0.000_3, 0, 0.000_000_1, 0.000_4]))
    case .list(let type, let elements): .list(of: type, elements.map { precise($0) })
    default: value
    }
  }

  private mutating func single(_ type: ValueType) -> RecordValue {
    switch type {
    case .string: .string(random.pick(Self.texts))
    case .int64: .int64(random.pick([.min, -1, 0, 1, 2, 3, 9_007_199_254_740_993, .max]))
    case .double:
      .double(random.pick([-.infinity, -1.5, -0.0, 0, 1, 2.5, 9_007_199_254_740_992, .nan]))
    case .timestamp: .timestamp(TestStore.time(Int64.random(in: -2...2, using: &random)))
    case .location: .location(location())
    case .reference: .reference(reference())
    case .bytes, .asset: .bytes(Data([random.pick([0, 1])]))
    }
  }

  private mutating func location() -> Location {
    Location(
      latitude: random.pick([-90, -89.95, -17, 0, 0.001, 45.05, 89.9, 90]),
      longitude: random.pick([-180, -179.9, -0.1, 0, 0.001, 120.5, 179.9, 180]))
  }

  private mutating func reference() -> Reference {
    Reference(
      recordName: "r\(Int.random(in: 0..<4, using: &random))",
      zoneID: random.chance(1, in: 4) ? random.pick(Self.zones) : nil)
  }

  // MARK: Queries

  mutating func query() -> Query {
    Query(
      recordType: "Note",
      filters: (0..<random.pick([0, 1, 1, 1, 2, 2, 3])).map { _ in filter() },
      sortKeys: (0..<random.pick([0, 1, 1, 2, 2, 3])).map { _ in sortKey() })
  }

  private mutating func sortKey() -> SortKey {
    let ascending = random.chance(1, in: 2)
    if random.chance(1, in: 4) {
      return SortKey(.field("place"), ascending: ascending, relativeLocation: location())
    }
    let keys: [FieldKey] =
      ["text", "count", "size", "when"].map { .field($0) }
      + [.system(.createdTimestamp), .system(.modifiedTimestamp)]
    return SortKey(random.pick(keys), ascending: ascending)
  }

  private static let equality: [CloudKitModel.Comparator] = [.equals, .notEquals, .isIn, .notIn]
  private static let ranges: [CloudKitModel.Comparator] = [
    .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals,
  ]
  private static let members: [CloudKitModel.Comparator] = [
    .listContains, .notListContains, .listContainsAll, .notListContainsAll, .listContainsAny,
    .notListContainsAny,
  ]

  mutating func filter() -> Filter {
    if random.chance(1, in: 8) { return systemFilter() }
    if random.chance(1, in: 10) {
      return Filter(
        .allText, random.pick([.containsAllTokens, .containsAnyTokens]),
        value(of: FieldType(.string)))
    }
    let (name, type) = random.pick(
      Self.types.filter { !Self.encrypted.contains($0.0) && $0.0 != "data" })
    let key = FieldKey.field(name)
    if random.chance(1, in: 12) { return Filter(key, random.pick([.equals, .notEquals]), nil) }
    if type.isList {
      if type.element == .string, random.chance(1, in: 3) {
        return Filter(
          key,
          random.pick([
            .listMemberBeginsWith, .notListMemberBeginsWith, .containsAllTokens,
            .containsAnyTokens,
          ]), single(.string))
      }
      let comparator = random.pick(Self.members + [.equals])
      let isSingle = comparator == .listContains || comparator == .notListContains
      return Filter(
        key, comparator, isSingle ? single(type.element) : value(of: type), options: options(type))
    }
    switch type.element {
    case .location where random.chance(2, in: 3):
      return Filter(
        key, .near, .location(location()),
        distance: random.pick([0, 150, 20_000, 3_000_000, 2e7]))
    case .string where random.chance(1, in: 2):
      return Filter(
        key,
        random.pick([.beginsWith, .notBeginsWith, .containsAllTokens, .containsAnyTokens]),
        single(.string))
    case .string, .timestamp:
      let comparator = random.pick(Self.equality + Self.ranges)
      return Filter(
        key, comparator, operand(of: type.element, for: comparator), options: options(type))
    case .int64, .double:
      let comparator = random.pick(Self.equality + Self.ranges + Self.ranges)
      return Filter(key, comparator, operand(of: random.pick([.int64, .double]), for: comparator))
    default:
      let comparator = random.pick(Self.equality)
      return Filter(key, comparator, operand(of: type.element, for: comparator))
    }
  }

  private mutating func options(_ type: FieldType) -> Filter.Options {
    type.element == .string && random.chance(1, in: 6)
      ? random.pick([.caseInsensitive, [.caseInsensitive, .diacriticInsensitive]]) : []
  }

  private mutating func operand(
    of type: ValueType, for comparator: CloudKitModel.Comparator
  ) -> RecordValue {
    comparator == .isIn || comparator == .notIn ? value(of: .list(of: type)) : single(type)
  }

  private mutating func systemFilter() -> Filter {
    switch random.pick(0..<4) {
    case 0:
      let names = (0..<3).map { _ in "r\(Int.random(in: 0..<40, using: &random))" }
      return random.chance(1, in: 2)
        ? Filter(
          .system(.recordName), random.pick([.isIn, .notIn]),
          .list(of: .string, names.map { .string($0) }))
        : Filter(
          .system(.recordName), random.pick([.equals, .notEquals]),
          random.chance(1, in: 2)
            ? .string(names[0]) : .reference(Reference(recordName: names[0])))
    case 1:
      return Filter(
        .system(.createdUserRecordName), random.pick([.equals, .notEquals]),
        .string(random.pick([TestStore.alice, TestStore.bob])))
    case 2:
      return Filter(
        .system(.parent), .equals, random.chance(1, in: 2) ? .reference(reference()) : nil)
    default:
      return Filter(
        .system(random.pick([.createdTimestamp, .modifiedTimestamp])),
        random.pick(Self.equality.prefix(2) + Self.ranges),
        .timestamp(TestStore.time(Int64.random(in: 0...20, using: &random))))
    }
  }

  // MARK: Operations

  mutating func operation(
    on name: String, in zones: [ZoneID], kinds: [RecordOperation.Kind] = [.forceReplace]
  ) -> RecordOperation {
    // A record keeps its type.
    var operation = RecordOperation(
      kind: random.pick(kinds), recordID: RecordID(recordName: name, zoneID: random.pick(zones)),
      recordType: name.hasSuffix("7") ? "Other" : "Note", fields: fields())
    // A record's references stay in its zone, with or without its name.
    operation.fields = operation.fields.mapValues {
      $0.map { $0.keeping(inZone: operation.recordID.zoneID) }
    }
    operation.encryptedFields = Self.encrypted
    return operation
  }
}

extension RecordValue {
  /// The value with its references in this zone; those without a zone stay without one.
  fileprivate func keeping(inZone zoneID: ZoneID) -> RecordValue {
    switch self {
    case .reference(var reference):
      if reference.zoneID != nil { reference.zoneID = zoneID }
      return .reference(reference)
    case .list(let type, let elements):
      return .list(of: type, elements.map { $0.keeping(inZone: zoneID) })
    case .string, .int64, .double, .timestamp, .preciseTimestamp, .location, .bytes, .asset:
      return self
    }
  }
}
