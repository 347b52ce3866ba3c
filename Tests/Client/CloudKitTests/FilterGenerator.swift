import CloudKitModel
import Foundation
import PropertyTesting

/// Makes filters of all kinds that a predicate can express.
struct FilterGenerator {
  var random: SeededGenerator

  mutating func filters() -> [Filter] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in filter() }
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  private mutating func filter() -> Filter {
    let comparator = pick(CloudKitModel.Comparator.allCases)
    let key = FieldKey.field(pick(["a", "title", "in", "Any", "null", "x_1", "first", "cast"]))
    let options = Filter.Options(rawValue: UInt8.random(in: 0...3, using: &random))
    switch comparator.relation {
    case .near:
      return Filter(key, .near, .location(place()), distance: Double(pick([0, 1, 2500, 1e7])))
    case .containsAllTokens, .containsAnyTokens:
      return Filter(pick([key, .allText]), comparator, .string(text()))
    case .beginsWith, .listMemberBeginsWith:
      return Filter(key, comparator, .string(text()), options: options)
    case .isIn, .listContainsAll, .listContainsAny:
      return Filter(key, comparator, list(), options: options)
    case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
      if Bool.random(using: &random) {
        return Filter(
          .system(pick([.createdTimestamp, .modifiedTimestamp])), comparator, .timestamp(date()))
      }
      return Filter(key, comparator, ordered(), options: options)
    case .equals:
      if Bool.random(using: &random) {
        return Filter(
          .system(pick([.recordName, .createdUserRecordName, .recordChangeTag])), comparator,
          .string(name()))
      }
      return Filter(key, comparator, pick([single(), list()]), options: options)
    case .listContains:
      return Filter(key, comparator, single(), options: options)
    }
  }

  private mutating func text() -> String {
    pick(["", "x", "it's \"q\"", "back\\slash", "line\nnext\r\t\0", "é", "%@", "日本", "NOT", "a.b"])
  }

  /// A text as names and tags may be: without U+0000.
  private mutating func name() -> String { text().filter { $0 != "\0" } }

  private mutating func date() -> Timestamp {
    Timestamp(
      milliseconds: Int64.random(in: -4_000_000_000_000...4_000_000_000_000, using: &random))
  }

  private mutating func place() -> Location {
    Location(
      latitude: Double.random(in: -90...90, using: &random),
      longitude: Double.random(in: -180...180, using: &random))
  }

  private mutating func ordered() -> RecordValue {
    pick([
      .string(text()), .int64(pick([0, -1, 5, .max, .min])),
      .double(pick([0, -0.5, 5, 1e300, .leastNonzeroMagnitude, 0.1])), .timestamp(date()),
    ])
  }

  private mutating func single() -> RecordValue {
    pick([
      ordered(), .location(place()), .reference(Reference(recordName: "r")),
      .reference(
        Reference(recordName: "q\"", zoneID: ZoneID(zoneName: "Z", ownerName: "_o"))),
    ])
  }

  private mutating func list() -> RecordValue {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      return .list(
        of: .string, (0..<Int.random(in: 0...3, using: &random)).map { _ in .string(text()) })
    case 1: return .list(of: .int64, [.int64(1), .int64(-2)])
    case 2: return .list(of: .double, [.double(1), .double(-2.5)])
    default: return .list(of: .reference, [.reference(Reference(recordName: "r"))])
    }
  }
}
