import CloudKit
import Foundation
import PetrelTesting
import PropertyTesting
import Testing

/// Encrypted fields of records, which keep their values exactly.
struct EncryptedValueTests {
  @Test(
    "the dates of encrypted fields are those that were set, on every device",
    arguments: Seeds.some(5))
  func exactDates(seed: Int) async throws {
    var random = SeededGenerator(seed: seed)
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna", device: "phone").privateCloudDatabase
    let dates =
      [Date(), .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0)]
      + (0..<50).map { _ in
        Date(timeIntervalSinceReferenceDate: .random(in: -2e9...2e9, using: &random))
      }
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    for (number, date) in dates.enumerated() { record.encryptedValues["d\(number)"] = date }
    record.encryptedValues["list"] = dates
    record["open"] = dates[0]
    try await database.save(record)
    let other = cloud.container(user: "anna", device: "tablet").privateCloudDatabase
    let fetched = try await other.record(for: record.recordID)
    for (number, date) in dates.enumerated() {
      #expect(fetched.encryptedValues["d\(number)"] == date, "seed \(seed)")
    }
    #expect(fetched.encryptedValues["list"] == dates)
    let open: Date = try #require(fetched["open"])
    #expect(abs(open.timeIntervalSince(dates[0])) <= 0.0005)
    await cloud.stop()
  }
}
