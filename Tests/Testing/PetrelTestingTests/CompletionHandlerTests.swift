import CloudKit
import Foundation
import PetrelTesting
import XCTest

/// The same from XCTest, with the forms that take blocks.
final class CompletionHandlerTests: XCTestCase {
  private func cloud() throws -> TestCloud {
    let started = expectation(description: "the cloud has started")
    nonisolated(unsafe) var result: Result<TestCloud, any Error>?
    Task {
      do {
        result = .success(try await TestCloud())
      } catch {
        result = .failure(error)
      }
      started.fulfill()
    }
    wait(for: [started], timeout: 20)
    return try XCTUnwrap(result).get()
  }

  func testSavesAndFetches() throws {
    let cloud = try cloud()
    let database = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    record["title"] = "Milk"
    let saved = expectation(description: "saved")
    database.save(record) { _, error in
      XCTAssertNil(error)
      saved.fulfill()
    }
    wait(for: [saved], timeout: 20)
    let fetched = expectation(description: "fetched")
    database.fetch(withRecordID: record.recordID) { record, error in
      XCTAssertNil(error)
      XCTAssertEqual(record?["title"], "Milk")
      fetched.fulfill()
    }
    wait(for: [fetched], timeout: 20)
  }

  func testReceivesPushes() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await tablet.save(CKDatabaseSubscription(subscriptionID: "all"))
    let zone = CKRecordZone(zoneName: "Notes")
    try await phone.save(zone)
    try await phone.save(
      CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zone.zoneID)))
    let pushes = await cloud.pushes(to: "anna")
    XCTAssertFalse(pushes.isEmpty)
    XCTAssertEqual(Set(pushes.map(\.device)), ["ipad"])
    XCTAssertTrue(pushes.allSatisfy { $0.notification is CKDatabaseNotification })
  }

  func testFailsWithoutNetwork() throws {
    let cloud = try cloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    cloud.fail(next: .networkLoss)
    let failed = expectation(description: "failed")
    database.save(CKRecord(recordType: "Note")) { record, error in
      XCTAssertNil(record)
      XCTAssertEqual((error as? CKError)?.code, .networkUnavailable)
      failed.fulfill()
    }
    wait(for: [failed], timeout: 20)
  }
}
