import CloudKitModel
import Foundation
import Testing

@testable import Matching

struct SubscriptionIndexTests {
  private func key(_ subscriber: String, _ id: String = "s") -> SubscriptionKey {
    SubscriptionKey(subscriber: subscriber, subscriptionID: id)
  }

  private func query(
    _ filters: [Filter], id: String = "s", zoneID: ZoneID? = nil,
    options: Subscription.Options = .firesOnRecordCreation
  ) -> Subscription {
    Subscription(
      subscriptionID: id,
      kind: .query(
        Query(recordType: "Note", filters: filters), zoneID: zoneID, options: options))
  }

  private func creation(_ fields: RecordFields<RecordValue>, zoneID: ZoneID = .default) -> Change {
    Change(
      event: .recordCreated, zoneID: zoneID,
      record: Record(
        recordID: RecordID(recordName: "n", zoneID: zoneID), recordType: "Note",
        fields: fields),
      notificationID: UUID(), timestamp: Timestamp(milliseconds: 0))
  }

  private func finds(_ filter: Filter, _ fields: RecordFields<RecordValue>) -> Bool {
    var index = SubscriptionIndex()
    index.insert(query([filter]), for: key("_ann"), version: 1)
    return !index.matches(creation(fields), savedBy: 1).isEmpty
  }

  private let author = Filter(.field("author"), .equals, .string("ann"))
  private let cheap = Filter(.field("price"), .lessThan, .double(10))

  @Test("An empty index matches nothing")
  func empty() {
    let index = SubscriptionIndex()
    #expect(index.matches(creation([:]), savedBy: .max).isEmpty)
    #expect(index.count == 0)
    #expect(index.checkInvariants() == [])
  }

  @Test("A subscription fires on changes committed from its version on")
  func version() {
    var index = SubscriptionIndex()
    index.insert(query([]), for: key("_ann"), version: 7)
    #expect(index.matches(creation([:]), savedBy: 6).isEmpty)
    #expect(index.matches(creation([:]), savedBy: 7).map(\.version) == [7])
    #expect(index.matches(creation([:]), savedBy: 8).count == 1)
  }

  @Test("Inserting under a key replaces what was there, wherever it was filed")
  func replacement() {
    var index = SubscriptionIndex()
    index.insert(query([author]), for: key("_ann"), version: 1)
    index.insert(query([cheap]), for: key("_ann"), version: 2)
    #expect(index.count == 1)
    #expect(index.matches(creation(["author": .string("ann")]), savedBy: 9).isEmpty)
    let matches = index.matches(creation(["price": .double(5)]), savedBy: 9)
    #expect(matches.map(\.version) == [2])
    #expect(index.checkInvariants() == [])
  }

  @Test("Removing says whether there was something to remove")
  func removal() {
    var index = SubscriptionIndex()
    index.insert(query([author]), for: key("_ann"), version: 1)
    let answers = [key("_ann", "other"), key("_bob"), key("_ann"), key("_ann")]
      .map { index.remove($0) }
    #expect(answers == [false, false, true, false])
    #expect(index.matches(creation(["author": .string("ann")]), savedBy: 9).isEmpty)
    #expect(index.typeNumbers.isEmpty)
  }

  @Test("Owners of one predicate share an entry, whatever the order of filters and firesOnce")
  func sharing() {
    var index = SubscriptionIndex()
    index.insert(query([author, cheap]), for: key("_ann"), version: 1)
    index.insert(query([cheap, author, cheap]), for: key("_bob"), version: 2)
    index.insert(
      query([author, cheap], options: [.firesOnRecordCreation, .firesOnce]), for: key("_cyd"),
      version: 3)
    #expect(index.entryCount == 1)
    let change = creation(["author": .string("ann"), "price": .int64(3)])
    #expect(index.matches(change, savedBy: 9).map(\.key.subscriber) == ["_ann", "_bob", "_cyd"])
    #expect(
      index.matches(change, savedBy: 9).map(\.subscription.firesOnce) == [false, false, true])
    index.remove(key("_ann"))
    #expect(index.matches(change, savedBy: 9).map(\.key.subscriber) == ["_bob", "_cyd"])
    #expect(index.checkInvariants() == [])
  }

  @Test(
    "Predicates that differ in anything that counts are entries of their own",
    arguments: [
      Filter(.field("author"), .notEquals, .string("ann")),
      Filter(.field("author"), .equals, .string("ann"), options: .caseInsensitive),
      Filter(.field("writer"), .equals, .string("ann")),
      Filter(.field("author"), .equals, .string("caf\u{E9}")),
      Filter(.field("author"), .equals, .string("cafe\u{301}")),
      Filter(.field("author"), .equals, .int64(5)),
      Filter(.field("author"), .equals, nil),
      Filter(.system(.recordName), .equals, .string("ann")),
    ])
  func differing(filter: Filter) {
    var index = SubscriptionIndex()
    index.insert(query([author]), for: key("_ann"), version: 1)
    index.insert(query([filter]), for: key("_bob"), version: 1)
    #expect(index.entryCount == 2)
    index.insert(query([filter]), for: key("_cyd"), version: 1)
    #expect(index.entryCount == 2)
    index.insert(
      query([filter], options: .firesOnRecordDeletion), for: key("_dan"), version: 1)
    index.insert(query([filter], zoneID: .default), for: key("_eve"), version: 1)
    #expect(index.entryCount == 4)
    for name in ["_ann", "_bob", "_cyd", "_dan", "_eve"] { index.remove(key(name)) }
    #expect(index.entryCount == 0)
    #expect(index.checkInvariants() == [])
  }

  @Test("Matches come in the order of their keys, by bytes")
  func order() {
    var index = SubscriptionIndex()
    let keys = [
      key("_bob", "a"), key("_ann", "b"), key("_ann", "Z"), key("_ann", "caf\u{E9}"),
      key("_ann", "cafe\u{301}"), key("_ann", ""),
    ]
    for key in keys { index.insert(query([], id: key.subscriptionID), for: key, version: 1) }
    #expect(index.count == 6)
    let found = index.matches(creation([:]), savedBy: 1).map(\.key)
    #expect(
      found.map { Array($0.subscriptionID.utf8) }
        == ["", "Z", "b", "cafe\u{301}", "caf\u{E9}", "a"].map { Array($0.utf8) })
  }

  @Test("Integers and doubles are found under each other, -0.0 under 0, big ones exactly")
  func numbers() {
    #expect(finds(Filter(.field("n"), .equals, .int64(5)), ["n": .double(5)]))
    #expect(finds(Filter(.field("n"), .equals, .double(5)), ["n": .int64(5)]))
    #expect(finds(Filter(.field("n"), .equals, .double(-0.0)), ["n": .int64(0)]))
    #expect(
      finds(Filter(.field("n"), .isIn, .list(of: .double, [.double(0)])), ["n": .double(-0.0)]))
    #expect(finds(Filter(.field("n"), .equals, .double(.infinity)), ["n": .double(.infinity)]))
    #expect(finds(Filter(.field("n"), .equals, .double(0x1p63)), ["n": .double(0x1p63)]))
    #expect(!finds(Filter(.field("n"), .equals, .double(0x1p63)), ["n": .int64(.max)]))
    #expect(!finds(Filter(.field("n"), .equals, .double(0x1p53)), ["n": .int64(1 << 53 + 1)]))
    #expect(!finds(Filter(.field("n"), .equals, .double(.nan)), ["n": .double(.nan)]))
    #expect(finds(Filter(.field("n"), .notEquals, .double(.nan)), ["n": .double(.nan)]))
  }

  @Test("Texts are found byte for byte, folded where the filter says so")
  func texts() {
    let composed = RecordValue.string("caf\u{E9}")
    let decomposed = RecordValue.string("cafe\u{301}")
    #expect(finds(Filter(.field("t"), .equals, composed), ["t": composed]))
    #expect(!finds(Filter(.field("t"), .equals, composed), ["t": decomposed]))
    let folded = Filter(.field("t"), .equals, composed, options: .diacriticInsensitive)
    #expect(finds(folded, ["t": decomposed]))
    #expect(finds(folded, ["t": .string("cafe")]))
    #expect(!finds(folded, ["t": .string("CAFE")]))
    let list = Filter(
      .field("t"), .listContains, .string("ANN"), options: .caseInsensitive)
    #expect(finds(list, ["t": .list(of: .string, [.string("bob"), .string("Ann")])]))
  }

  @Test("References are found by record name; users and records by reference or name")
  func references() {
    let work = ZoneID(zoneName: "work")
    let wanted = Filter(.field("r"), .equals, .reference(Reference(recordName: "x")))
    #expect(
      finds(
        wanted,
        ["r": .reference(Reference(recordName: "x", zoneID: work, action: .validate))]))
    #expect(!finds(wanted, ["r": .reference(Reference(recordName: "y"))]))
    #expect(!finds(wanted, ["r": .string("x")]))
    #expect(
      finds(Filter(.system(.recordName), .equals, .reference(Reference(recordName: "n"))), [:]))
    #expect(
      finds(
        Filter(.system(.recordName), .isIn, .list(of: .string, [.string("m"), .string("n")])), [:]))
  }

  @Test("An entry that several elements of a list lead to fires once")
  func several() {
    let any = Filter(
      .field("tags"), .listContainsAny,
      .list(of: .string, [.string("a"), .string("b"), .string("a")]))
    var index = SubscriptionIndex()
    index.insert(query([any]), for: key("_ann"), version: 1)
    let change = creation(["tags": .list(of: .string, [.string("b"), .string("a"), .string("b")])])
    #expect(index.matches(change, savedBy: 1).count == 1)
  }

  @Test("Predicates that no record can pass cost no evaluation, and can be removed")
  func contradiction() {
    var index = SubscriptionIndex()
    index.insert(query([.never, cheap]), for: key("_ann"), version: 1)
    index.insert(
      query([Filter(.field("n"), .equals, .double(.nan))]), for: key("_bob"), version: 1)
    #expect(index.types.allSatisfy { $0.value.points.count == 0 })
    #expect(index.matches(creation(["n": .double(.nan)]), savedBy: 1).isEmpty)
    #expect(index.checkInvariants() == [])
    index.remove(key("_ann"))
    index.remove(key("_bob"))
    #expect(index.entryCount == 0)
  }

  /// The fields under whose points a subscriber's entry is filed.
  private func fieldsThatFind(_ index: SubscriptionIndex, _ subscriber: String) -> [FieldKey] {
    guard let slot = index.owners.find(key(subscriber)) else { return [] }
    let place = index.contents.place(of: index.owners[slot].content)
    guard let type = place.type else { return [] }
    let typeIndex = index.types[Int(type)].value
    return typeIndex.keys(of: typeIndex.entries[place.entry]).map {
      typeIndex.path(of: $0.point).field
    }
  }

  @Test("A query with one good filter among others is filed under that one")
  func selectivity() throws {
    var index = SubscriptionIndex()
    let several = Filter(
      .field("kind"), .isIn, .list(of: .string, [.string("a"), .string("b"), .string("c")]))
    index.insert(query([cheap, several, author]), for: key("_ann"), version: 1)
    #expect(fieldsThatFind(index, "_ann") == [.field("author")])
  }

  @Test("Of two equally narrow filters the less crowded one is taken")
  func crowd() throws {
    var index = SubscriptionIndex()
    let kind = Filter(.field("kind"), .equals, .string("a"))
    for user in 0..<5 {
      let price = Filter(.field("price"), .lessThan, .int64(Int64(user)))
      index.insert(query([kind, price]), for: key("_u\(user)"), version: 1)
    }
    index.insert(query([kind, author]), for: key("_ann"), version: 1)
    #expect(fieldsThatFind(index, "_ann") == [.field("author")])
  }

  @Test("Bounds on more fields than an entry can number are checked for each record")
  func manyFields() {
    var index = SubscriptionIndex()
    let count = 66_000
    func bound(_ field: Int) -> Filter { Filter(.field("f\(field)"), .greaterThan, .int64(10)) }
    for first in stride(from: 0, to: count, by: 300) {
      index.insert(
        query((first..<first + 300).map(bound)), for: key("_ann", "\(first)"), version: 1)
    }
    let last = SubscriptionKey(subscriber: "_bob", subscriptionID: "last")
    index.insert(query([bound(count)]), for: last, version: 1)
    let change = creation(["f\(count)": .int64(11)])
    #expect(index.matches(change, savedBy: 1).map(\.key) == [last])
    #expect(index.matches(creation(["f\(count)": .int64(10)]), savedBy: 1).isEmpty)
    #expect(index.checkInvariants() == [])
    let isRemoved = index.remove(last)
    #expect(isRemoved)
    #expect(index.matches(change, savedBy: 1).isEmpty)
    #expect(index.checkInvariants() == [])
  }

  @Test("A predicate moves to the filter that fewer records pass, when they turn out to")
  func learning() {
    var index = SubscriptionIndex()
    let kind = Filter(.field("kind"), .equals, .string("a"))
    for user in 0..<200 {
      index.insert(
        query([kind, Filter(.field("author"), .equals, .string("author\(user)"))]),
        for: key("_u\(user)"), version: 1)
    }
    var scratch = MatchScratch()
    for (rare, common) in [("author", "kind"), ("kind", "author"), ("author", "kind")] {
      // At first the authors differ and the kind is always the same, then the other way round.
      for number in 0..<6_000 {
        let change = creation([
          common: .string(common == "kind" ? "a" : "author\(number % 3)"),
          rare: .string(rare == "kind" ? "z" : "author\(number % 200)"),
        ])
        index.learn(from: change, using: &scratch)
      }
      let filedUnder = (0..<3).map { fieldsThatFind(index, "_u\($0)") }
      #expect(filedUnder == [[.field(rare)], [.field(rare)], [.field(rare)]])
      #expect(index.checkInvariants() == [])
    }
    let change = creation(["kind": .string("a"), "author": .string("author7")])
    #expect(index.matches(change, savedBy: 1).map(\.key.subscriber) == ["_u7"])
  }

  @Test("An interval, a bound and a circle are taken when few records come there, and left again")
  func learningOrder() {
    let place = RecordValue.location(Location(latitude: 10, longitude: 10))
    let filters: [[Filter]] = [
      [
        Filter(.field("rare"), .greaterThan, .int64(10)),
        Filter(.field("rare"), .lessThan, .int64(20)),
      ],
      [Filter(.field("rare"), .greaterThanOrEquals, .int64(900))],
      [Filter(.field("rare"), .near, place, distance: 5_000)],
    ]
    let within: [RecordValue] = [.int64(15), .int64(950), place]
    let beyond: [RecordValue] = [
      .int64(500), .int64(500), .location(Location(latitude: 50, longitude: 10)),
    ]
    for number in filters.indices {
      var index = SubscriptionIndex()
      let kind = Filter(.field("kind"), .equals, .string("a"))
      index.insert(query([kind] + filters[number]), for: key("_ann"), version: 1)
      var scratch = MatchScratch()
      func learn(_ kind: String, _ value: RecordValue) {
        for _ in 0..<1_000 {
          index.learn(from: creation(["kind": .string(kind), "rare": value]), using: &scratch)
        }
      }
      func candidates(_ kind: String, _ value: RecordValue) -> Int {
        var scratch = MatchScratch()
        let change = creation(["kind": .string(kind), "rare": value])
        _ = index.matches(change, savedBy: 1, using: &scratch)
        return scratch.candidateCount
      }
      for _ in 0..<2 {
        learn("a", beyond[number])
        #expect(candidates("a", beyond[number]) == 0, "case \(number), by its values")
        learn("b", within[number])
        learn("b", within[number])
        #expect(candidates("b", within[number]) == 0, "case \(number), by its kind")
        let change = creation(["kind": .string("a"), "rare": within[number]])
        #expect(index.matches(change, savedBy: 1).count == 1)
        #expect(index.checkInvariants() == [])
      }
    }
  }

  @Test("Zone and database subscriptions fire on records and zones of custom zones only")
  func feeds() {
    let work = ZoneID(zoneName: "work")
    let home = ZoneID(zoneName: "home")
    var index = SubscriptionIndex()
    func insert(_ id: String, _ kind: Subscription.Kind) {
      index.insert(
        Subscription(subscriptionID: id, kind: kind), for: key("_ann", id), version: 1)
    }
    insert("work", .recordZone(work, recordType: nil))
    insert("work notes", .recordZone(work, recordType: "Note"))
    insert("work tasks", .recordZone(work, recordType: "Task"))
    insert("database", .database(recordType: nil))
    insert("notes", .database(recordType: "Note"))
    func found(_ change: Change) -> [String] {
      index.matches(change, savedBy: 1).map(\.key.subscriptionID)
    }
    #expect(
      found(creation([:], zoneID: work)) == ["database", "notes", "work", "work notes"])
    #expect(found(creation([:], zoneID: home)) == ["database", "notes"])
    #expect(found(creation([:])) == [])
    var zone = creation([:], zoneID: work)
    zone.event = .zoneDeleted
    zone.record = nil
    #expect(found(zone) == ["database", "work"])
    #expect(index.checkInvariants() == [])
  }

  @Test("A copy does not see what happens to the original")
  func values() {
    var index = SubscriptionIndex()
    index.insert(query([author]), for: key("_ann"), version: 1)
    let copy = index
    index.remove(key("_ann"))
    #expect(copy.count == 1)
    #expect(copy.matches(creation(["author": .string("ann")]), savedBy: 1).count == 1)
    #expect(copy.checkInvariants() == [])
  }
}
