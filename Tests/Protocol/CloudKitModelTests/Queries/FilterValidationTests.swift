import CloudKitModel
import Foundation
import Testing

struct FilterValidationTests {
  private func reason(_ filter: Filter) -> String? {
    do {
      try filter.validate()
      return nil
    } catch {
      return error.reason
    }
  }

  private func allows(_ comparator: CloudKitModel.Comparator, _ value: RecordValue?) -> Bool {
    reason(Filter(.field("f"), comparator, value, distance: comparator == .near ? 1 : nil)) == nil
  }

  @Test("Only EQUALS and NOT_EQUALS go without a value")
  func withoutValue() {
    let allowed = CloudKitModel.Comparator.allCases.filter { allows($0, nil) }
    #expect(allowed == [.equals, .notEquals])
  }

  @Test("Each comparator takes values of its types, and its NOT_… form the same")
  func types() {
    let values: [(String, RecordValue)] = [
      ("string", .string("a")), ("int64", .int64(1)), ("double", .double(1)),
      ("timestamp", .moment(1)), ("location", .place(1, 2)), ("reference", .target("x")),
      ("list", .strings("a")), ("empty", .strings()), ("bytes", .bytes(Data())),
      ("asset", .asset(Asset(fileChecksum: "x", size: 1))), ("bytes list", .list(of: .bytes, [])),
    ]
    let ordered: Set = ["string", "int64", "double", "timestamp"]
    let single = ordered.union(["location", "reference"])
    let lists: Set = ["list", "empty"]
    for comparator in CloudKitModel.Comparator.allCases {
      let expected: Set<String> =
        switch comparator.relation {
        case .equals: single.union(lists)
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: ordered
        case .near: ["location"]
        case .containsAllTokens, .containsAnyTokens, .beginsWith, .listMemberBeginsWith:
          ["string"]
        case .isIn, .listContainsAll, .listContainsAny: lists
        case .listContains: single
        }
      let allowed = Set(values.filter { allows(comparator, $0.1) }.map(\.0))
      #expect(allowed == expected, "\(comparator)")
    }
  }

  @Test("NEAR needs a distance that is a number and not negative, all others take none")
  func distances() {
    func near(_ distance: Double?) -> Bool {
      reason(Filter(.field("f"), .near, .place(1, 2), distance: distance)) == nil
    }
    #expect([0, 0.5, 1e9].allSatisfy { near($0) })
    #expect(![nil, -1, .nan, .infinity].contains { near($0) })
    #expect(
      reason(Filter(.field("f"), .equals, .int64(1), distance: 5))
        == "EQUALS on 'f' must not have a distance")
  }

  @Test("A date has no fraction of a millisecond, alone or in a list")
  func wholeMilliseconds() {
    let fine = RecordValue.preciseTimestamp(
      PreciseTimestamp(timestamp: Timestamp(milliseconds: 5), remainder: 0.000_2))
    for filter in [
      Filter(.field("f"), .lessThan, fine),
      Filter(.field("f"), .isIn, .list(of: .timestamp, [.moment(0), fine])),
      Filter(.system(.createdTimestamp), .equals, fine),
    ] {
      #expect(reason(filter)?.contains("a fraction of a millisecond") == true, "\(filter)")
    }
    #expect(reason(Filter(.field("f"), .lessThan, .moment(5))) == nil)
  }

  @Test("Field names and values must be well formed, and errors name them")
  func forms() {
    #expect(reason(Filter(.field("1f"), .equals, .int64(1)))?.contains("'1f'") == true)
    #expect(reason(Filter(.field("f"), .equals, .place(91, 0)))?.contains("latitude 91.0") == true)
    #expect(
      reason(Filter(.field("f"), .isIn, .list(of: .string, [.int64(1)])))
        == "element 0 of list 'f' is INT64, but the elements must be STRING")
    #expect(
      reason(Filter(.field("f"), .lessThan, .place(0, 0)))
        == "LESS_THAN on 'f' needs a string, a number or a timestamp, not LOCATION")
    #expect(
      reason(Filter(.system(.createdTimestamp), .isIn, .moment(0)))
        == "IN on 'createdTimestamp' needs a list, not TIMESTAMP")
  }

  @Test("A list may have 500 values and not one more")
  func valueLimit() {
    func list(_ count: Int64) -> RecordValue {
      .list(of: .int64, (0..<count).map { .int64($0) })
    }
    #expect(allows(.isIn, list(500)))
    #expect(
      reason(Filter(.field("f"), .isIn, list(501)))
        == "IN on 'f' has 501 values; the limit is 500")
  }

  @Test("All text can only be searched for tokens")
  func allText() {
    for comparator in CloudKitModel.Comparator.allCases {
      let filter = Filter(
        .allText, comparator, .string("a"), distance: comparator == .near ? 1 : nil)
      let isSearch = comparator == .containsAllTokens || comparator == .containsAnyTokens
      #expect((reason(filter) == nil) == isSearch, "\(comparator)")
    }
    #expect(reason(Filter(.allText, .equals, nil)) == "EQUALS on '(all text)' needs a field name")
    #expect(reason(Filter(.allText, .notEquals, nil)) != nil)
  }

  @Test("Against a field's type: what can never match is refused")
  func againstTypes() {
    func fits(
      _ type: FieldType, _ comparator: CloudKitModel.Comparator, _ value: RecordValue?,
      key: FieldKey = .field("f")
    ) -> Bool {
      (try? Filter(key, comparator, value).validate(against: type)) != nil
    }
    #expect(fits(FieldType(.string), .equals, .string("a")))
    #expect(fits(FieldType(.string), .equals, nil))
    #expect(!fits(FieldType(.string), .equals, .int64(1)))
    #expect(fits(FieldType(.double), .notEquals, .int64(1)))
    #expect(!fits(.list(of: .string), .equals, .string("a")))
    #expect(fits(.list(of: .double), .equals, .integers(1)))
    #expect(!fits(FieldType(.timestamp), .lessThan, .int64(1)))
    #expect(fits(.list(of: .string), .containsAllTokens, .string("a")))
    #expect(!fits(FieldType(.int64), .containsAnyTokens, .string("5")))
    #expect(fits(.list(of: .int64), .listContains, .double(1)))
    #expect(!fits(FieldType(.int64), .listContains, .int64(1)))
    #expect(!fits(.list(of: .string), .notListContains, .int64(1)))
    #expect(fits(.list(of: .string), .listContainsAll, .integers()))
    #expect(!fits(.list(of: .string), .listContainsAny, .integers(1)))
    #expect(fits(FieldType(.int64), .isIn, .list(of: .double, [.double(1)])))
    #expect(fits(FieldType(.int64), .isIn, .strings()))
    #expect(!fits(FieldType(.int64), .notIn, .strings("1")))
    #expect(!fits(.list(of: .int64), .isIn, .integers(1)))
    #expect(fits(FieldType(.string), .beginsWith, .string("a")))
    #expect(!fits(.list(of: .string), .beginsWith, .string("a")))
    #expect(fits(.list(of: .string), .listMemberBeginsWith, .string("a")))
    let creator = FieldKey.system(.createdUserRecordName)
    #expect(fits(FieldType(.string), .equals, .target("_ann"), key: creator))
    #expect(fits(FieldType(.string), .isIn, .list(of: .reference, [.target("_a")]), key: creator))
    #expect(!fits(FieldType(.string), .equals, .target("_ann")))
    #expect(!fits(FieldType(.string), .lessThan, .target("_ann"), key: creator))
  }

  @Test("Against a field's type: the error says whether the field should hold a list")
  func listsAgainstTypes() {
    func reason(_ type: FieldType, _ filter: Filter) -> String? {
      do throws(ModelError) {
        try filter.validate(against: type)
        return nil
      } catch {
        return error.reason
      }
    }
    #expect(
      reason(FieldType(.string), Filter(.field("f"), .listContains, .string("a")))
        == "LIST_CONTAINS on 'f' needs a field with a list, not one of type STRING")
    #expect(
      reason(FieldType(.string), Filter(.field("f"), .notListMemberBeginsWith, .string("a")))
        == "NOT_LIST_MEMBER_BEGINS_WITH on 'f' needs a field with a list, not one of type STRING")
    #expect(
      reason(.list(of: .string), Filter(.field("f"), .isIn, .strings("a")))
        == "IN on 'f' needs a field with a single value, not one of type STRING_LIST")
  }

  @Test("A query has at most 100 filters, and a sort needs a field")
  func queries() {
    let filter = Filter(.field("f"), .equals, .int64(1))
    func query(_ count: Int) -> Query {
      Query(recordType: "Note", filters: Array(repeating: filter, count: count))
    }
    #expect(throws: Never.self) { try query(100).validate() }
    let error = #expect(throws: ModelError.self) { try query(101).validate() }
    #expect(error?.code == .limitExceeded)
    func sorted(_ sortKey: SortKey) -> Query { Query(recordType: "Note", sortKeys: [sortKey]) }
    #expect(throws: Never.self) { try sorted(SortKey(.field("f"))).validate() }
    #expect(throws: Never.self) { try sorted(SortKey(.system(.recordName))).validate() }
    #expect(throws: ModelError.self) { try sorted(SortKey(.allText)).validate() }
    #expect(throws: ModelError.self) { try sorted(SortKey(.field("1"))).validate() }
    let nowhere = Location(latitude: 99, longitude: 0)
    #expect(throws: ModelError.self) {
      try sorted(SortKey(.field("f"), relativeLocation: nowhere)).validate()
    }
    #expect(throws: ModelError.self) { try Query(recordType: "").validate() }
  }

  @Test("A query matches records of its type that pass every filter")
  func matching() {
    let record = Record.sample(["a": .int64(1), "b": .int64(2)])
    let a = Filter(.field("a"), .equals, .int64(1))
    let b = Filter(.field("b"), .equals, .int64(3))
    #expect(Query(recordType: "Note").matches(record))
    #expect(Query(recordType: "Note", filters: [a]).matches(record))
    #expect(!Query(recordType: "Note", filters: [a, b]).matches(record))
    #expect(!Query(recordType: "Task", filters: [a]).matches(record))
  }

  @Test("A system field is not looked for with a text that no name has")
  func unnamable() {
    let marks = "e" + String(repeating: "\u{301}\u{323}", count: 16)
    let fault =
      "'recordName' cannot search for more than 30 combining marks in a row, because no name has them"
    for (comparator, value) in [
      (.equals, .string(marks)), (.isIn, .list(of: .string, [.string("a"), .string(marks)])),
      (.equals, .target(marks)),
    ] as [(CloudKitModel.Comparator, RecordValue)] {
      #expect(reason(Filter(.system(.recordName), comparator, value))?.hasSuffix(fault) == true)
      #expect(reason(Filter(.field("f"), comparator, value)) == nil)
    }
  }

  @Test(
    "A search looks for five hundred words at most",
    arguments: [
      CloudKitModel.Comparator.containsAllTokens, .containsAnyTokens,
    ])
  func words(comparator: CloudKitModel.Comparator) {
    func text(_ count: Int) -> RecordValue {
      // Words that come again count once.
      .string(((0..<count).map { "w\($0)" } + ["w0", "W0"]).joined(separator: " "))
    }
    #expect(allows(comparator, text(500)))
    #expect(
      reason(Filter(.field("f"), comparator, text(501)))
        == "\(comparator.rawValue) on 'f' has 501 words; the limit is 500")
  }
}
