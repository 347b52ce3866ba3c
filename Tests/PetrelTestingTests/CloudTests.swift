import CloudKit
import Foundation
import PetrelTesting
import Testing

@Suite("A cloud in the test's process")
struct CloudTests {
  @Test("a record that one device saves is there for another")
  func saves() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone")
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    record["title"] = "Milk"
    try await phone.privateCloudDatabase.save(record)
    let tablet = cloud.container(user: "anna", device: "ipad")
    let found = try await tablet.privateCloudDatabase.record(for: record.recordID)
    #expect(found["title"] == "Milk")
  }
}
