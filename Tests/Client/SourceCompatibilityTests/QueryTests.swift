import CloudKit
import Foundation
import Testing

struct QueryTests {
  @available(*, deprecated)
  @Test("A query has a type, a predicate and perhaps an order")
  func query() throws {
    let tag = "swift"
    let query = CKQuery(
      recordType: "Note",
      predicate: NSPredicate(format: "tags CONTAINS %@ AND rating >= %d", tag, 4))
    #expect(query.recordType == "Note" && query.sortDescriptors == nil)
    query.sortDescriptors = [
      NSSortDescriptor(key: "creationDate", ascending: false),
      CKLocationSortDescriptor(
        key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2)),
    ]
    #expect(query.sortDescriptors?.count == 2)
    #expect(query.sortDescriptors?.first?.ascending == false)
    let nearest = query.sortDescriptors?.last as? CKLocationSortDescriptor
    #expect(nearest?.relativeLocation.coordinate.latitude == 1)
    #expect((query.copy() as? CKQuery)?.predicate == query.predicate)
    let data = try NSKeyedArchiver.archivedData(withRootObject: query, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: data)
    #expect(back?.predicate.predicateFormat == query.predicate.predicateFormat)
    #expect(back?.sortDescriptors?.count == 2)
  }

  @available(*, deprecated)
  @Test("Formats take every type of argument that apps give them")
  func formats() {
    let location = CLLocation(latitude: 1, longitude: 2)
    let reference = CKRecord.Reference(recordID: .init(recordName: "r"), action: .none)
    let predicates = [
      NSPredicate(format: "TRUEPREDICATE"), NSPredicate(value: true),
      NSPredicate(format: "name == %@", "Ada"), NSPredicate(format: "%K == %@", "name", "Ada"),
      NSPredicate(format: "count > %d", 3), NSPredicate(format: "rating < %f", 4.5),
      NSPredicate(format: "done == %@", NSNumber(value: true)),
      NSPredicate(format: "date > %@", Date() as NSDate),
      NSPredicate(format: "date > %@", Date() as CVarArg),
      NSPredicate(format: "kind IN %@", ["a", "b"]),
      NSPredicate(format: "parent == %@", reference),
      NSPredicate(format: "distanceToLocation:fromLocation:(place, %@) < %f", location, 1000.0),
      NSPredicate(format: "name == %@ AND count == %@", argumentArray: ["Ada", 3]),
      NSPredicate(format: "self contains %@", "word"),
      NSPredicate(format: "ANY tags == 'a'"),
    ]
    #expect(predicates.allSatisfy { !$0.predicateFormat.isEmpty })
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [predicates[2], predicates[4]])
    #expect(both.subpredicates.count == 2)
    let record = CKRecord(recordType: "Note")
    record["name"] = "Ada"
    #expect(predicates[2].evaluate(with: record))
  }

  @available(*, deprecated)
  @Test("A subscription's ID may be made of the predicate's format, which is stable")
  func stableFormat() {
    let one = NSPredicate(format: "name == %@ AND count > 3", "Ada")
    let other = NSPredicate(format: "name = 'Ada' && count > %d", 3)
    #expect("Note-" + one.predicateFormat == "Note-" + other.predicateFormat)
  }

  @Test("A query operation has Apple's defaults")
  func operation() {
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
    let operation = CKQueryOperation(query: query)
    #expect(operation.query === query && operation.cursor == nil && operation.zoneID == nil)
    #expect(operation.resultsLimit == CKQueryOperation.maximumResults)
    #expect(CKQueryOperation.maximumResults == 0 && operation.desiredKeys == nil)
    operation.zoneID = CKRecordZone.ID(zoneName: "Work")
    operation.resultsLimit = 5
    operation.desiredKeys = ["title"]
    operation.recordMatchedBlock = { id, result in _ = (id.recordName, try? result.get()) }
    operation.queryResultBlock = { result in
      if case .success(let cursor?) = result { _ = CKQueryOperation(cursor: cursor) }
    }
    operation.query = nil
    operation.cursor = nil
    #expect(operation.recordMatchedBlock != nil && operation.queryResultBlock != nil)
    #expect(operation.desiredKeys == ["title"] && operation.resultsLimit == 5)
    #expect(operation.zoneID?.zoneName == "Work" && CKQueryOperation().query == nil)
  }

  @available(*, deprecated)
  @Test("The deprecated blocks of a query operation keep what they are given")
  func deprecatedBlocks() {
    let operation = CKQueryOperation()
    operation.recordFetchedBlock = { record in _ = record.recordID }
    operation.queryCompletionBlock = { cursor, error in
      let cursor: CKQueryOperation.Cursor? = cursor
      _ = (cursor, error)
    }
    #expect(operation.recordFetchedBlock != nil && operation.queryCompletionBlock != nil)
  }
}
