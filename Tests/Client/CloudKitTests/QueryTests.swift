import CloudKit
import CloudKitModel
import Testing

struct QueryTests {
  private func query() -> CKQuery {
    let query = CKQuery(
      recordType: "Artwork",
      predicate: NSPredicate(
        format: "artist == %@ AND year > %d AND date < %@", "Mona", 1500, Date()))
    query.sortDescriptors = [
      NSSortDescriptor(key: "year", ascending: false),
      NSSortDescriptor(key: "creationDate", ascending: true),
      CKLocationSortDescriptor(
        key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2)),
    ]
    return query
  }

  @Test("A query becomes the model's and comes back")
  func conversion() throws {
    let model = try query().model(now: .now)
    #expect(model.recordType == "Artwork")
    #expect(model.filters.count == 3)
    #expect(
      model.sortKeys.map(\.key) == [.field("year"), .system(.createdTimestamp), .field("place")])
    #expect(model.sortKeys.map(\.ascending) == [false, true, true])
    #expect(model.sortKeys[2].relativeLocation?.longitude == 2)
    #expect(try CKQuery(model).model(now: .now) == model)
  }

  @Test("An OR in a query stops the program when the query is made")
  func alternatives() async {
    await #expect(processExitsWith: .failure) {
      _ = CKQuery(recordType: "T", predicate: NSPredicate(format: "a == 1 OR b == 2"))
    }
    await #expect(processExitsWith: .failure) {
      let either = NSCompoundPredicate(orPredicateWithSubpredicates: [
        NSPredicate(format: "a == 1"), NSPredicate(format: "b == 2"),
      ])
      let both = NSCompoundPredicate(andPredicateWithSubpredicates: [either])
      _ = CKQuery(recordType: "T", predicate: both)
    }
    let one = NSCompoundPredicate(orPredicateWithSubpredicates: [NSPredicate(format: "a == 1")])
    #expect(CKQuery(recordType: "T", predicate: one).recordType == "T")
  }

  @Test("What a query cannot do is reported when it is lowered")
  func refusals() {
    func code(_ query: CKQuery) -> CKError.Code? {
      do { _ = try query.model(now: .now) } catch { return error.code }
      return nil
    }
    let all = NSPredicate(value: true)
    #expect(code(CKQuery(recordType: "T", predicate: all)) == nil)
    #expect(code(CKQuery(recordType: "not a name", predicate: all)) == .invalidArguments)
    let block = NSPredicate { _, _ in true }
    #expect(code(CKQuery(recordType: "T", predicate: block)) == .invalidArguments)
    let sorted = CKQuery(recordType: "T", predicate: all)
    sorted.sortDescriptors = [NSSortDescriptor(keyPath: \String.count, ascending: true)]
    #expect(code(sorted) == .invalidArguments)
    sorted.sortDescriptors = [NSSortDescriptor(key: nil, ascending: true)]
    #expect(code(sorted) == .invalidArguments)
    sorted.sortDescriptors = [NSSortDescriptor(key: "a.b", ascending: true)]
    #expect(code(sorted) == .invalidArguments)
  }

  @Test("A copy of a query has sort descriptors of its own")
  func copying() {
    let original = query()
    let copy = original.copy() as! CKQuery
    copy.sortDescriptors = nil
    #expect(original.sortDescriptors?.count == 3)
    #expect(copy.recordType == "Artwork")
  }

  @Test("Queries, descriptors, cursors and tokens go through secure archives")
  func archiving() throws {
    let query = query()
    let copy = try archivedAndBack(query)
    #expect(try copy.model(now: .now) == query.model(now: .now))
    #expect(
      try archivedAndBack(CKQuery(recordType: "T", predicate: NSPredicate(value: true)))
        .sortDescriptors == nil)
    let nearest = CKLocationSortDescriptor(
      key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2))
    #expect(try archivedAndBack(nearest) == nearest)
    let cursor = CKQueryCursor(
      query: try query.model(now: .now), zoneID: ZoneID(zoneName: "Z"), continuationMarker: "m")
    #expect(try archivedAndBack(cursor) == cursor)
    let token = CKServerChangeToken(syncToken: "t")
    #expect(try archivedAndBack(token) == token)
  }

  @Test("A predicate made of a block survives an archive as one that no search accepts")
  func blockArchiving() throws {
    let query = CKQuery(recordType: "T", predicate: NSPredicate(block: { _, _ in true }))
    let error = #expect(throws: CKError.self) {
      try archivedAndBack(query).model(now: .now)
    }
    #expect(error?.localizedDescription.contains("block") == true)
  }

  @Test("The format of a predicate is stable and readable through Foundation's class")
  func predicateFormat() {
    let predicate: any PredicateFormatHolder = NSPredicate(format: "a = %@ && b in {1}", "x")
    #expect(predicate.predicateFormat == "a == \"x\" AND b IN {1}")
  }

  @Test("Arguments cast to CVarArg, as code for Apple's systems does, keep their types")
  func variadicArguments() {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let reference = CKRecord.Reference(recordID: CKRecord.ID(recordName: "r"), action: .none)
    let predicate = NSPredicate(
      format: "a == %@ AND b == %@ AND c IN %@", date as CVarArg, reference as CVarArg,
      ["x"] as CVarArg)
    #expect(
      predicate.canonicalFormat
        == "a == CAST(5.000000, \"NSDate\") AND "
        + "b == CAST({\"r\", \"_defaultZone\", \"__defaultOwner__\"}, \"CKReference\") AND c IN {\"x\"}"
    )
    #expect(String(format: "%@ and %@", NSNumber(value: 5), ["x"] as CVarArg).hasPrefix("5 and ("))
  }
}

/// Foundation on Linux marks the property as deprecated; a protocol does not.
protocol PredicateFormatHolder {
  var predicateFormat: String { get }
}

extension NSPredicate: PredicateFormatHolder {}
