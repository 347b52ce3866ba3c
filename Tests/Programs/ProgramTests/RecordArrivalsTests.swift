import CloudKit
import CommandInterface
import Testing

@testable import petrel_bench

struct RecordArrivalsTests {
  private static let zoneID = CKRecordZone.ID(zoneName: "Feed")

  private func recordIDs(_ numbers: Range<Int>) -> [CKRecord.ID] {
    numbers.map { EarthquakeRecords.recordID($0, in: Self.zoneID) }
  }

  @Test("A missing record is an error, also if others have arrived twice")
  func missing() throws {
    let arrivals = RecordArrivals(count: 3)
    arrivals.note(recordIDs(0..<2))
    let time = try #require(arrivals.time(of: 1))
    arrivals.note(recordIDs(1..<2))
    #expect(arrivals.time(of: 1) == time && arrivals.time(of: 2) == nil)
    #expect {
      try arrivals.check("the feed")
    } throws: {
      ($0 as? UsageError)?.description == "the feed has 2 of 3 records"
    }
    arrivals.note(recordIDs(2..<3))
    try arrivals.check("the feed")
  }

  @Test("Records of others do not count")
  func others() throws {
    let arrivals = RecordArrivals(count: 2)
    arrivals.note(recordIDs(2..<4))
    arrivals.note([
      CKRecord.ID(recordName: "quake-", zoneID: Self.zoneID),
      CKRecord.ID(recordName: "0", zoneID: Self.zoneID),
      CKRecord.ID(recordName: "quake--1", zoneID: Self.zoneID),
    ])
    #expect(throws: UsageError.self) { try arrivals.check("the feed") }
    #expect(arrivals.time(of: 0) == nil && arrivals.time(of: 1) == nil)
  }
}
