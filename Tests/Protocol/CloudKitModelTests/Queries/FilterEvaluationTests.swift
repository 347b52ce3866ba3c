import CloudKitModel
import Foundation
import Testing

/// The table in the documentation of ``CloudKitModel/Filter/matches(_:)``, row by row. The `NOT_…`
/// row and what holds for all rows is in `FilterPropertyTests`.
struct FilterEvaluationTests {
  /// Whether the filter passes a record whose field `f` has the value `field`.
  private func holds(
    _ field: RecordValue?, _ comparator: CloudKitModel.Comparator, _ value: RecordValue?,
    distance: Double? = nil, options: Filter.Options = []
  ) -> Bool {
    Filter(.field("f"), comparator, value, distance: distance, options: options)
      .matches(.sample(field.map { ["f": $0] } ?? [:]))
  }

  @Test("EQUALS holds for the same value of each type")
  func equals() {
    let pairs: [(RecordValue, RecordValue)] = [
      (.string("a"), .string("b")), (.int64(1), .int64(2)), (.double(1.5), .double(2.5)),
      (.moment(1), .moment(2)), (.place(1, 2), .place(1, 3)), (.target("x"), .target("y")),
      (.bytes(Data([1])), .bytes(Data([2]))), (.strings("a", "b"), .strings("b", "a")),
      (
        .asset(Asset(fileChecksum: "x", size: 1)), .asset(Asset(fileChecksum: "y", size: 1))
      ),
    ]
    for (value, other) in pairs {
      #expect(holds(value, .equals, value), "\(value)")
      #expect(!holds(value, .equals, other), "\(value)")
      #expect(!holds(nil, .equals, value), "\(value)")
      #expect(!holds(value, .equals, .strings("other")), "\(value)")
    }
  }

  @Test("EQUALS compares integers and doubles by value and no other types with each other")
  func equalsAcrossTypes() {
    #expect(holds(.int64(5), .equals, .double(5)))
    #expect(holds(.double(5), .equals, .int64(5)))
    #expect(!holds(.int64(5), .equals, .double(5.5)))
    #expect(!holds(.int64(5), .equals, .string("5")))
    #expect(!holds(.int64(5), .equals, .moment(5)))
    #expect(!holds(.target("x"), .equals, .string("x")))
    #expect(!holds(.string("x"), .equals, .target("x")))
    #expect(!holds(.integers(5), .equals, .int64(5)))
    #expect(holds(.integers(5), .equals, .list(of: .double, [.double(5)])))
    #expect(holds(.integers(), .equals, .strings()))
  }

  @Test("EQUALS compares places by coordinates, references by target, assets by checksum")
  func equalsByEssence() {
    let high = Location(latitude: 1, longitude: 2, altitude: 900, speed: 3)
    #expect(holds(.location(high), .equals, .place(1, 2)))
    #expect(holds(.target("x", zone: "work"), .equals, .target("x")))
    #expect(holds(.target("x", zone: "work"), .equals, .target("x", zone: "work")))
    #expect(!holds(.target("x", zone: "work"), .equals, .target("x", zone: "home")))
    let deleting = Reference(recordName: "x", action: .deleteSelf)
    #expect(holds(.reference(deleting), .equals, .target("x")))
    #expect(
      holds(
        .asset(Asset(fileChecksum: "x", size: 1)), .equals,
        .asset(Asset(fileChecksum: "x", size: 2))))
  }

  @Test("EQUALS without a value holds when the field is absent, NOT_EQUALS when it is there")
  func equalsNothing() {
    #expect(holds(nil, .equals, nil))
    #expect(!holds(.string(""), .equals, nil))
    #expect(!holds(.strings(), .equals, nil))
    #expect(!holds(nil, .notEquals, nil))
    #expect(holds(.string(""), .notEquals, nil))
  }

  @Test(
    "The four ranges hold as the order of the two says",
    arguments: [
      (.string("a"), .string("b")), (.string("Z"), .string("a")), (.string(""), .string("a")),
      (.int64(1), .int64(2)), (.double(1.5), .double(2.5)), (.int64(1), .double(1.5)),
      (.double(0.5), .int64(1)), (.moment(-2), .moment(-1)), (.moment(-1), .moment(1)),
      (.double(-.infinity), .int64(.min)), (.int64(.max), .double(.infinity)),
    ] as [(RecordValue, RecordValue)])
  func ranges(low: RecordValue, high: RecordValue) {
    let comparators: [CloudKitModel.Comparator] = [
      .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals,
    ]
    #expect(comparators.map { holds(low, $0, high) } == [true, true, false, false])
    #expect(comparators.map { holds(low, $0, low) } == [false, true, false, true])
    #expect(comparators.map { holds(high, $0, low) } == [false, false, true, true])
    for comparator in comparators {
      #expect(!holds(nil, comparator, high))
      #expect(!holds(low, comparator, nil))
      #expect(!holds(low, comparator, .place(0, 0)))
      #expect(!holds(.list(of: low.type.element, [low]), comparator, high))
    }
  }

  @Test("Ranges do not hold between values without order, nor beside a NaN")
  func rangesWithoutOrder() {
    for comparator in CloudKitModel.Comparator.allCases where comparator.relation.isRange {
      #expect(!holds(.place(0, 0), comparator, .place(0, 0)))
      #expect(!holds(.target("x"), comparator, .target("x")))
      #expect(!holds(.int64(1), comparator, .string("1")))
      #expect(!holds(.int64(1), comparator, .moment(1)))
      #expect(!holds(.double(.nan), comparator, .double(.nan)))
      #expect(!holds(.int64(1), comparator, .double(.nan)))
      #expect(!holds(.double(.nan), comparator, .int64(1)))
    }
  }

  @Test("NEAR holds up to the distance and at it")
  func near() {
    // One thousandth of a degree of latitude is 111.195 m on a sphere of the mean radius.
    let here = RecordValue.place(10, 20)
    #expect(holds(.place(10.001, 20), .near, here, distance: 112))
    #expect(!holds(.place(10.001, 20), .near, here, distance: 111))
    #expect(holds(here, .near, here, distance: 0))
    #expect(!holds(nil, .near, here, distance: 1e9))
    #expect(!holds(.string("here"), .near, here, distance: 1e9))
    #expect(!holds(.list(of: .location, [here]), .near, here, distance: 1e9))
    #expect(!holds(here, .near, nil, distance: 1))
    #expect(!holds(here, .near, here))
  }

  @Test("CONTAINS_ALL_TOKENS holds when each token of the value is one of the field")
  func allTokens() {
    let text = RecordValue.string("The deep Sea, Caf\u{E9}!")
    #expect(holds(text, .containsAllTokens, .string("sea DEEP")))
    #expect(holds(text, .containsAllTokens, .string("cafe")))
    #expect(holds(text, .containsAllTokens, .string("the deep")))
    #expect(!holds(text, .containsAllTokens, .string("deep blue")))
    #expect(!holds(text, .containsAllTokens, .string("dee")))
    #expect(!holds(text, .containsAllTokens, .string("the of, !")))
    #expect(!holds(text, .containsAllTokens, .string("")))
    #expect(!holds(text, .containsAllTokens, nil))
    #expect(!holds(text, .containsAllTokens, .strings("sea")))
    #expect(!holds(nil, .containsAllTokens, .string("sea")))
    #expect(!holds(.int64(5), .containsAllTokens, .string("5")))
    #expect(holds(.strings("deep", "sea"), .containsAllTokens, .string("sea deep")))
  }

  @Test("CONTAINS_ANY_TOKENS holds when one token of the value is one of the field")
  func anyTokens() {
    #expect(holds(.string("deep sea"), .containsAnyTokens, .string("sea bird")))
    #expect(!holds(.string("deep sea"), .containsAnyTokens, .string("bird")))
    #expect(!holds(.string("the sea"), .containsAnyTokens, .string("the")))
    #expect(!holds(.string("deep sea"), .containsAnyTokens, .string("")))
    #expect(!holds(nil, .containsAnyTokens, .string("sea")))
    #expect(!holds(.int64(5), .containsAnyTokens, .string("5")))
    #expect(holds(.strings("deep", "sea"), .containsAnyTokens, .string("sea bird")))
  }

  @Test("Token searches in all text look at every string field together")
  func allText() {
    let record = Record.sample([
      "title": .string("deep"), "tags": .strings("blue", "sea"), "count": .int64(7),
    ])
    func finds(_ comparator: CloudKitModel.Comparator, _ words: String) -> Bool {
      Filter(.allText, comparator, .string(words)).matches(record)
    }
    #expect(finds(.containsAllTokens, "sea deep"))
    #expect(!finds(.containsAllTokens, "sea 7"))
    #expect(finds(.containsAnyTokens, "sea 7"))
    #expect(!finds(.containsAnyTokens, "n 1 Note"))
    #expect(!Filter(.allText, .equals, .string("deep")).matches(record))
  }

  @Test("IN holds when the field equals an element of the value")
  func isIn() {
    #expect(holds(.string("b"), .isIn, .strings("a", "b")))
    #expect(!holds(.string("c"), .isIn, .strings("a", "b")))
    #expect(!holds(.string("a"), .isIn, .strings()))
    #expect(holds(.double(2), .isIn, .integers(1, 2)))
    #expect(!holds(.double(.nan), .isIn, .list(of: .double, [.double(.nan)])))
    #expect(!holds(.string("a"), .isIn, .string("a")))
    #expect(!holds(.strings("a"), .isIn, .strings("a")))
    #expect(!holds(nil, .isIn, .strings("a")))
    #expect(!holds(.string("a"), .isIn, nil))
  }

  @Test("LIST_CONTAINS holds when an element of the field equals the value")
  func listContains() {
    #expect(holds(.strings("a", "b"), .listContains, .string("b")))
    #expect(!holds(.strings("a", "b"), .listContains, .string("c")))
    #expect(!holds(.strings(), .listContains, .string("a")))
    #expect(holds(.integers(1, 2), .listContains, .double(2)))
    #expect(!holds(.string("a"), .listContains, .string("a")))
    #expect(!holds(.strings("a"), .listContains, .strings("a")))
    #expect(!holds(nil, .listContains, .string("a")))
    #expect(!holds(.strings("a"), .listContains, nil))
  }

  @Test("LIST_CONTAINS_ALL holds when the field has each element of the value, and for none")
  func listContainsAll() {
    #expect(holds(.strings("a", "b", "c"), .listContainsAll, .strings("c", "a", "a")))
    #expect(!holds(.strings("a", "b"), .listContainsAll, .strings("a", "c")))
    #expect(holds(.strings("a"), .listContainsAll, .strings()))
    #expect(holds(.strings(), .listContainsAll, .strings()))
    #expect(holds(.integers(1, 2), .listContainsAll, .list(of: .double, [.double(2)])))
    #expect(!holds(.string("a"), .listContainsAll, .strings()))
    #expect(!holds(.strings("a"), .listContainsAll, .string("a")))
    #expect(!holds(nil, .listContainsAll, .strings()))
    #expect(!holds(.strings("a"), .listContainsAll, nil))
  }

  @Test("LIST_CONTAINS_ANY holds when the field has one element of the value")
  func listContainsAny() {
    #expect(holds(.strings("a", "b"), .listContainsAny, .strings("c", "b")))
    #expect(!holds(.strings("a", "b"), .listContainsAny, .strings("c")))
    #expect(!holds(.strings("a"), .listContainsAny, .strings()))
    #expect(!holds(.string("a"), .listContainsAny, .strings("a")))
    #expect(!holds(.strings("a"), .listContainsAny, .string("a")))
    #expect(!holds(nil, .listContainsAny, .strings("a")))
    #expect(!holds(.strings("a"), .listContainsAny, nil))
  }

  @Test("BEGINS_WITH compares UTF-8 bytes")
  func beginsWith() {
    #expect(holds(.string("Suva"), .beginsWith, .string("Su")))
    #expect(holds(.string("Suva"), .beginsWith, .string("Suva")))
    #expect(holds(.string("Suva"), .beginsWith, .string("")))
    #expect(!holds(.string("Suva"), .beginsWith, .string("su")))
    #expect(!holds(.string("Suva"), .beginsWith, .string("Suva!")))
    #expect(!holds(.string("cafe\u{301}"), .beginsWith, .string("caf\u{E9}")))
    // The bytes begin with it, though the first character of the text is another one.
    #expect(holds(.string("e\u{301}"), .beginsWith, .string("e")))
    #expect(!holds(.int64(55), .beginsWith, .string("5")))
    #expect(!holds(.strings("Suva"), .beginsWith, .string("Su")))
    #expect(!holds(nil, .beginsWith, .string("")))
    #expect(!holds(.string("Suva"), .beginsWith, nil))
  }

  @Test("LIST_MEMBER_BEGINS_WITH asks each element")
  func listMemberBeginsWith() {
    #expect(holds(.strings("Nadi", "Suva"), .listMemberBeginsWith, .string("Su")))
    #expect(!holds(.strings("Nadi", "Suva"), .listMemberBeginsWith, .string("u")))
    #expect(!holds(.strings(), .listMemberBeginsWith, .string("")))
    #expect(!holds(.string("Suva"), .listMemberBeginsWith, .string("Su")))
    #expect(!holds(.integers(5), .listMemberBeginsWith, .string("5")))
    #expect(!holds(nil, .listMemberBeginsWith, .string("")))
    #expect(!holds(.strings("Suva"), .listMemberBeginsWith, nil))
  }

  @Test("With [c] case does not count, with [d] diacritics, with both neither")
  func options() {
    let upper = RecordValue.string("CAF\u{C9}")
    let composed = RecordValue.string("caf\u{E9}")
    let decomposed = RecordValue.string("cafe\u{301}")
    let plain = RecordValue.string("cafe")
    func equal(_ left: RecordValue, _ right: RecordValue) -> [Bool] {
      [[], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]]
        .map { holds(left, .equals, right, options: $0) }
    }
    #expect(equal(composed, composed) == [true, true, true, true])
    #expect(equal(upper, composed) == [false, true, false, true])
    #expect(equal(composed, plain) == [false, false, true, true])
    #expect(equal(composed, decomposed) == [false, true, true, true])
    #expect(equal(upper, plain) == [false, false, false, true])
  }

  @Test("Options count for strings in each comparator but tokens, and leave other types alone")
  func optionsEverywhere() {
    let c = Filter.Options.caseInsensitive
    #expect(holds(.string("B"), .isIn, .strings("a", "b"), options: c))
    #expect(holds(.strings("A"), .listContains, .string("a"), options: c))
    #expect(holds(.strings("A", "b"), .listContainsAll, .strings("a", "B"), options: c))
    #expect(holds(.strings("A"), .listContainsAny, .strings("a"), options: c))
    #expect(holds(.strings("A", "b"), .equals, .strings("a", "B"), options: c))
    #expect(!holds(.strings("A", "b"), .equals, .strings("a", "c"), options: c))
    #expect(holds(.string("SUVA"), .beginsWith, .string("su"), options: c))
    #expect(holds(.strings("SUVA"), .listMemberBeginsWith, .string("su"), options: c))
    #expect(holds(.string("a"), .lessThan, .string("B"), options: c))
    #expect(!holds(.string("a"), .lessThan, .string("B")))
    #expect(holds(.int64(5), .equals, .double(5), options: c))
    #expect(holds(.int64(5), .lessThan, .double(6), options: c))
    #expect(holds(.string("stra\u{DF}e"), .equals, .string("STRASSE"), options: c))
  }

  @Test("System fields are looked at like fields; names of records and users by reference too")
  func systemFields() {
    var record = Record.sample()
    record.recordChangeTag = "e"
    record.created = Record.Stamp(timestamp: Timestamp(milliseconds: 5), userRecordName: "_ann")
    record.parent = Reference(recordName: "folder")
    func holds(_ field: SystemField, _ value: RecordValue?) -> Bool {
      Filter(.system(field), .equals, value).matches(record)
    }
    #expect(holds(.recordName, .string("n-1")))
    #expect(holds(.recordName, .target("n-1", zone: "work")))
    #expect(!holds(.recordName, .target("n-2")))
    #expect(holds(.createdUserRecordName, .target("_ann")))
    #expect(holds(.createdTimestamp, .moment(5)))
    #expect(holds(.recordChangeTag, .string("e")))
    #expect(holds(.parent, .target("folder")))
    #expect(!holds(.parent, .string("folder")))
    #expect(holds(.modifiedTimestamp, nil))
    #expect(holds(.share, nil))
    #expect(
      Filter(.system(.recordName), .isIn, .list(of: .reference, [.target("n-1")])).matches(record))
  }

  @Test("A field of a record's own does not stand in for a system field, nor the other way round")
  func separateNames() {
    let record = Record.sample(["share": .string("own")])
    #expect(Filter(.field("share"), .equals, .string("own")).matches(record))
    #expect(Filter(.system(.share), .equals, nil).matches(record))
    #expect(Filter(.field("recordName"), .equals, nil).matches(record))
  }

  @Test("No record passes the filter that none passes")
  func never() {
    #expect(!Filter.never.matches(.sample()))
    #expect(throws: Never.self) { try Filter.never.validate() }
  }
}
