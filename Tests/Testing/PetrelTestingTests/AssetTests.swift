import CloudKit
import Foundation
import PetrelTesting
import Testing

struct AssetTests {
  @Test("the file of one device is there on another, without sockets")
  func roundTrip() async throws {
    let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("petrel-testing-\(UUID().uuidString)")
    try bytes.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "p"))
    record["image"] = CKAsset(fileURL: file)

    cloud.fail(next: .networkLoss, operation: .uploadAsset)
    let lost = await #expect(throws: CKError.self) { try await phone.save(record) }
    #expect(lost?.code == .networkUnavailable)
    try await phone.save(record)

    cloud.fail(next: .serviceUnavailable(), device: "ipad", operation: .downloadAsset)
    _ = await #expect(throws: CKError.self) { try await tablet.record(for: record.recordID) }
    #expect(cloud.waitingFaults == 0)
    let found = try await tablet.record(for: record.recordID)
    let asset = try #require(found["image"] as? CKAsset)
    #expect(try Data(contentsOf: try #require(asset.fileURL)) == bytes)
  }
}
