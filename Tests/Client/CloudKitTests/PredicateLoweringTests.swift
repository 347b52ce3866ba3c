import CloudKitModel
import PredicateLanguage
import PropertyTesting
import Testing

@testable import CloudKit

struct PredicateLoweringTests {
  private let now = Timestamp(milliseconds: 1_000_000)

  private func filters(_ format: String, _ arguments: [Any] = []) throws -> [Filter] {
    try NSPredicate(format: format, argumentArray: arguments).filters(now: now)
  }

  private func field(
    _ name: String, _ comparator: CloudKitModel.Comparator, _ value: RecordValue,
    options: Filter.Options = []
  ) -> Filter {
    Filter(.field(name), comparator, value, options: options)
  }

  private func strings(_ values: String...) -> RecordValue {
    .list(of: .string, values.map { .string($0) })
  }

  @Test("Each construct becomes its filters")
  func table() throws {
    let place = CLLocation(latitude: 1, longitude: 2)
    let date = Date(timeIntervalSince1970: 5)
    let id = CKRecord.ID(recordName: "r")
    let reference = RecordValue.reference(
      CloudKitModel.Reference(recordName: "r", zoneID: .default))
    let near = { (distance: Double) in
      Filter(
        .field("p"), .near, .location(Location(latitude: 1, longitude: 2)), distance: distance)
    }
    let cases: [(String, [Any], [Filter])] = [
      ("TRUEPREDICATE", [], []),
      ("FALSEPREDICATE", [], [.never]),
      ("NOT FALSEPREDICATE", [], []),
      ("NOT TRUEPREDICATE", [], [.never]),
      ("a == 'x'", [], [field("a", .equals, .string("x"))]),
      ("'x' == a", [], [field("a", .equals, .string("x"))]),
      (
        "a ==[cd] 'x'", [],
        [field("a", .equals, .string("x"), options: [.caseInsensitive, .diacriticInsensitive])]
      ),
      ("a != 1", [], [field("a", .notEquals, .int64(1))]),
      ("NOT a == 1", [], [field("a", .notEquals, .int64(1))]),
      ("NOT a != 1", [], [field("a", .equals, .int64(1))]),
      ("NOT NOT a == 1", [], [field("a", .equals, .int64(1))]),
      ("a < 1.5", [], [field("a", .lessThan, .double(1.5))]),
      ("1 < a", [], [field("a", .greaterThan, .int64(1))]),
      ("1 >= a", [], [field("a", .lessThanOrEquals, .int64(1))]),
      (
        "a <= 1 AND a > 0", [],
        [field("a", .lessThanOrEquals, .int64(1)), field("a", .greaterThan, .int64(0))]
      ),
      ("NOT a < 1", [], [field("a", .greaterThanOrEquals, .int64(1))]),
      ("NOT a <= 1", [], [field("a", .greaterThan, .int64(1))]),
      ("NOT a > 1", [], [field("a", .lessThanOrEquals, .int64(1))]),
      ("NOT a >= 1", [], [field("a", .lessThan, .int64(1))]),
      (
        "a BETWEEN {1, 2}", [],
        [field("a", .greaterThanOrEquals, .int64(1)), field("a", .lessThanOrEquals, .int64(2))]
      ),
      (
        "a BETWEEN %@", [[date, date]],
        [
          field("a", .greaterThanOrEquals, .timestamp(Timestamp(date))),
          field("a", .lessThanOrEquals, .timestamp(Timestamp(date))),
        ]
      ),
      ("a IN {'x', 'y'}", [], [field("a", .isIn, strings("x", "y"))]),
      (
        "a IN %@", [[1, 2.5] as NSArray],
        [field("a", .isIn, .list(of: .double, [.double(1), .double(2.5)]))]
      ),
      ("NOT a IN {'x'}", [], [field("a", .notIn, strings("x"))]),
      ("NOT (a IN {'x'})", [], [field("a", .notIn, strings("x"))]),
      ("a IN {}", [], [field("a", .isIn, strings())]),
      ("%@ CONTAINS a", [["x"]], [field("a", .isIn, strings("x"))]),
      ("a CONTAINS 'x'", [], [field("a", .listContains, .string("x"))]),
      ("'x' IN a", [], [field("a", .listContains, .string("x"))]),
      ("NOT a CONTAINS 'x'", [], [field("a", .notListContains, .string("x"))]),
      ("ANY a == 'x'", [], [field("a", .listContains, .string("x"))]),
      ("SOME a CONTAINS 'x'", [], [field("a", .listContains, .string("x"))]),
      ("NONE a == 'x'", [], [field("a", .notListContains, .string("x"))]),
      ("ANY a IN {'x'}", [], [field("a", .listContainsAny, strings("x"))]),
      ("NOT ANY a IN {'x'}", [], [field("a", .notListContainsAny, strings("x"))]),
      ("NOT NONE a IN {'x'}", [], [field("a", .listContainsAny, strings("x"))]),
      ("a CONTAINS {'x', 'y'}", [], [field("a", .listContainsAll, strings("x", "y"))]),
      ("a BEGINSWITH 'x'", [], [field("a", .beginsWith, .string("x"))]),
      (
        "NOT a BEGINSWITH[c] 'x'", [],
        [field("a", .notBeginsWith, .string("x"), options: .caseInsensitive)]
      ),
      ("ANY a BEGINSWITH 'x'", [], [field("a", .listMemberBeginsWith, .string("x"))]),
      ("self CONTAINS 'a b'", [], [Filter(.allText, .containsAllTokens, .string("a b"))]),
      (
        "allTokens TOKENMATCHES[cdl] 'a b'", [],
        [Filter(.allText, .containsAllTokens, .string("a b"))]
      ),
      (
        "self.allTokens TOKENMATCHES[cdl] %@", ["a b"],
        [Filter(.allText, .containsAllTokens, .string("a b"))]
      ),
      ("a TOKENMATCHES 'x'", [], [field("a", .containsAllTokens, .string("x"))]),
      (
        "ALL tokenize:using:('a b', 'Cdl') IN allTokens", [],
        [Filter(.allText, .containsAllTokens, .string("a b"))]
      ),
      (
        "ANY tokenize:using:('a b', 'Cdl') IN allTokens", [],
        [Filter(.allText, .containsAnyTokens, .string("a b"))]
      ),
      ("distanceToLocation:fromLocation:(p, %@) < %f", [place, 500.0], [near(500)]),
      ("distanceToLocation:fromLocation:(p, %@) <= 500", [place], [near(500)]),
      ("500 > distanceToLocation:fromLocation:(p, %@)", [place], [near(500)]),
      ("a > now()", [], [field("a", .greaterThan, .timestamp(now))]),
      ("a == %@", [id], [field("a", .equals, reference)]),
      (
        "a == %@", [CKRecord.Reference(recordID: id, action: .deleteSelf)],
        [field("a", .equals, reference)]
      ),
      ("a IN %@", [[id]], [field("a", .isIn, .list(of: .reference, [reference]))]),
      ("recordID == %@", [id], [Filter(.system(.recordName), .equals, .string("r"))]),
      ("recordID IN %@", [[id]], [Filter(.system(.recordName), .isIn, strings("r"))]),
      (
        "%K == %@", [CKRecord.SystemFieldKey.creatorUserRecordID, id],
        [Filter(.system(.createdUserRecordName), .equals, .string("r"))]
      ),
      (
        "creationDate > %@", [date],
        [Filter(.system(.createdTimestamp), .greaterThan, .timestamp(Timestamp(date)))]
      ),
      (
        "___modTime > %@", [date],
        [Filter(.system(.modifiedTimestamp), .greaterThan, .timestamp(Timestamp(date)))]
      ),
      ("parent == %@", [id], [Filter(.system(.parent), .equals, reference)]),
    ]
    for (format, arguments, expected) in cases {
      #expect(try filters(format, arguments) == expected, "\(format)")
    }
  }

  @Test("What CloudKit cannot search for is refused by name")
  func refusals() throws {
    let place = CLLocation(latitude: 1, longitude: 2)
    let cases: [(String, [Any], String)] = [
      ("a == 1 OR b == 2", [], "OR is not supported"),
      ("NOT (a == 1 AND b == 2)", [], "NOT cannot negate an AND"),
      ("NOT a BETWEEN {1, 2}", [], "NOT cannot negate BETWEEN"),
      ("NOT self CONTAINS 'x'", [], "NOT cannot negate a search for words"),
      (
        "NOT ANY tokenize:using:('a', 'Cdl') IN allTokens", [],
        "NOT cannot negate a search for words"
      ),
      (
        "NOT distanceToLocation:fromLocation:(p, %@) < 5", [place],
        "a distance can only be compared with a radius by < or <="
      ),
      (
        "distanceToLocation:fromLocation:(p, %@) > 5", [place],
        "a distance can only be compared with a radius by < or <="
      ),
      (
        "distanceToLocation:fromLocation:(p, %@) < 'x'", [place],
        "a distance can only be compared with a number"
      ),
      (
        "distanceToLocation:fromLocation:(p, 5) < 5", [],
        "distanceToLocation:fromLocation: needs a key and a location"
      ),
      (
        "distanceToLocation:fromLocation:(p, %@) < -5", [place],
        "NEAR on 'p' needs a distance in metres that is not negative"
      ),
      ("a == nil", [], "comparison with nil is not supported"),
      ("a != %@", [NSNull()], "comparison with nil is not supported"),
      ("a.b == 1", [], "the key path 'a.b' is not supported"),
      ("a.@count == 1", [], "the key path 'a.@count' is not supported"),
      ("_a == 1", [], "field name '_a' must begin with a letter"),
      ("a == b", [], "a comparison of two fields is not supported"),
      ("1 == 1", [], "the comparison has no field on either side"),
      ("ALL a == 1", [], "ALL is not supported"),
      ("ANY a > 1", [], "ANY works only with =="),
      ("a LIKE 'x'", [], "LIKE is not supported"),
      ("a MATCHES 'x'", [], "MATCHES is not supported"),
      ("a ENDSWITH 'x'", [], "ENDSWITH is not supported"),
      ("a == %@", [Data([1])], "data values are not searchable"),
      ("a == %@", [URL(string: "https://example.com")!], "a value of type URL is not supported"),
      ("a == %@", [Double.nan], "the number nan is not supported"),
      ("a == %@", [UInt64.max], "a value of type UInt64 is not supported"),
      ("a == $who", [], "the variable $who is not supported"),
      ("a + 1 == 2", [], "the function add:to: is not supported"),
      ("SUBQUERY(a, $x, $x == 1) == 1", [], "SUBQUERY is not supported"),
      ("a == CAST('5', 'NSNumber')", [], "this CAST is not supported"),
      ("a IN 'x'", [], "IN needs a list"),
      ("a IN {{1}}", [], "a list in a list is not supported"),
      ("a IN {b}", [], "a list may hold only values"),
      ("a IN {1, 'x'}", [], "the list in the field 'a' mixes types: INT64, STRING"),
      ("a BETWEEN {1}", [], "BETWEEN needs a list of two values"),
      ("'x' BEGINSWITH a", [], "the field must be on the left side"),
      ("a BEGINSWITH 5", [], "BEGINS_WITH on 'a' needs a string"),
      ("a < {1, 2}", [], "LESS_THAN on 'a' needs a string, a number or a timestamp"),
      ("self == 'x'", [], "a record can only be searched for words"),
      ("creationDate > 5", [], "cannot compare a field of type TIMESTAMP with INT64"),
    ]
    for (format, arguments, reason) in cases {
      let error = #expect(throws: CKError.self, "\(format)") { try filters(format, arguments) }
      #expect(error?.code == .invalidArguments)
      let text = error?.localizedDescription ?? ""
      #expect(text.contains(reason), "\(format): \(text)")
    }
  }

  @Test("A refusal shows the part of the predicate that is at fault")
  func refusalText() {
    let error = #expect(throws: CKError.self) { try filters("a == 1 AND NOT b BETWEEN {1, 2}") }
    #expect(
      error?.localizedDescription
        == "the predicate cannot be searched for: NOT cannot negate BETWEEN: NOT b BETWEEN {1, 2}")
  }

  @Test("now() is refused where there is no now, as in subscriptions")
  func nowInSubscription() {
    let error = #expect(throws: CKError.self) {
      try NSPredicate(format: "a > now()").filters(now: nil)
    }
    #expect(error?.localizedDescription.contains("now() is not supported in subscriptions") == true)
  }

  @Test("Foundation's compound and value predicates are walked through")
  func compounds() throws {
    let a = NSPredicate(format: "a == 1")
    let b = NSPredicate(format: "b == %@", "x")
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [a, b])
    #expect(
      try both.filters(now: now)
        == [field("a", .equals, .int64(1)), field("b", .equals, .string("x"))])
    #expect(both.canonicalFormat == "a == 1 AND b == \"x\"")
    #expect(
      try NSCompoundPredicate(notPredicateWithSubpredicate: a).filters(now: now)
        == [field("a", .notEquals, .int64(1))])
    #expect(try NSPredicate(value: true).filters(now: now) == [])
    #expect(try NSPredicate(value: false).filters(now: now) == [.never])
    #expect(NSPredicate(value: true).canonicalFormat == "TRUEPREDICATE")
    #expect(
      try NSCompoundPredicate(andPredicateWithSubpredicates: []).filters(now: now) == [])
    for (predicate, reason) in [
      (NSCompoundPredicate(orPredicateWithSubpredicates: [a, b]), "OR is not supported"),
      (NSPredicate(block: { _, _ in true }), "a predicate with a block is not supported"),
      (
        NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(block: { _, _ in true })]),
        "a predicate with a block is not supported"
      ),
    ] {
      let error = #expect(throws: CKError.self) { try predicate.filters(now: now) }
      #expect(error?.localizedDescription.contains(reason) == true)
    }
  }

  @Test("Filters print to a predicate that lowers to the same filters")
  func roundTrip() throws {
    let seed = UInt64(0xC0FFEE)
    var generator = FilterGenerator(random: SeededGenerator(seed: seed))
    for round in 0..<3000 {
      let filters = generator.filters()
      let printed = PredicatePrinter.text(PredicateNode(filters))
      do {
        let node = try PredicateParser.parse(printed)
        #expect(node == PredicateNode(filters), "seed \(seed), round \(round): \(printed)")
        let lowered = try PredicateLowering(now: nil).filters(for: node)
        #expect(lowered == filters, "seed \(seed), round \(round): \(printed)")
      } catch {
        Issue.record("seed \(seed), round \(round): \(printed): \(error.localizedDescription)")
      }
    }
  }

  @Test("A filter for no value is kept, though no format lowers to it")
  func noValue() throws {
    let filters = [Filter(.field("a"), .equals, nil)]
    let predicate = NSPredicate.predicate(for: filters)
    #expect(predicate.canonicalFormat == "a == nil")
    #expect(try predicate.filters(now: nil) == filters)
  }

  @Test("A predicate can be evaluated with a record, OR included")
  func evaluation() {
    let record = CKRecord(recordType: "T")
    record["a"] = 5
    record["tags"] = ["x", "y"]
    record["text"] = "Two words"
    record["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/a"))
    for (format, passes) in [
      ("a == 5 AND tags CONTAINS 'x'", true), ("a == 4 OR tags CONTAINS 'y'", true),
      ("NOT (a == 5 AND tags CONTAINS 'z')", true), ("self CONTAINS 'words'", true),
      ("a > 5.0", false), ("missing < 5", false), ("FALSEPREDICATE", false),
    ] {
      #expect(NSPredicate(format: format).evaluate(with: record) == passes, "\(format)")
      let compound = NSCompoundPredicate(
        notPredicateWithSubpredicate: NSPredicate(format: format))
      #expect(compound.evaluate(with: record) != passes, "\(format)")
    }
  }
}
