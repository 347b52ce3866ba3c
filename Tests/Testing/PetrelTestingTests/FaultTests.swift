import CloudKit
import Foundation
import PetrelTesting
import Testing

struct FaultTests {
  private static func error(
    of save: () async throws -> some Any, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> CKError? {
    await #expect(throws: CKError.self, sourceLocation: sourceLocation) { _ = try await save() }
  }

  @Test(
    "a request fails with the error of its fault, and the next one works",
    arguments: [
      (TestFault.networkLoss, CKError.Code.networkUnavailable, nil),
      (.rateLimited(retryAfter: 7), .requestRateLimited, 7),
      (.serviceUnavailable(retryAfter: 8.5), .serviceUnavailable, 8.5),
      (.zoneBusy(retryAfter: 2), .zoneBusy, 2),
      (.authenticationExpired, .notAuthenticated, nil),
      (.quotaExceeded, .quotaExceeded, nil),
    ] as [(TestFault, CKError.Code, Double?)])
  func errors(fault: TestFault, code: CKError.Code, retryAfter: Double?) async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    cloud.fail(next: fault)
    #expect(cloud.waitingFaults == 1)
    let error = await Self.error { try await database.save(record) }
    #expect(error?.code == code)
    #expect(error?.retryAfterSeconds == retryAfter)
    #expect(cloud.waitingFaults == 0)
    let missing = await Self.error { try await database.record(for: record.recordID) }
    #expect(missing?.code == .unknownItem)
    try await database.save(record)
  }

  @Test("when the answer is lost, the server has done its work")
  func answerLost() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    cloud.fail(next: .answerLost)
    let error = await Self.error { try await database.save(record) }
    #expect(error?.code == .serverResponseLost)
    #expect(try await database.record(for: record.recordID).recordID == record.recordID)
  }

  @Test("a conflict brings the server's, the client's and the ancestor record")
  func conflict() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    record["title"] = "Milk"
    record["count"] = 1
    let mine = try await database.save(record)
    mine["title"] = "Bread"
    cloud.fail(next: .conflict(changing: { $0["title"] = "Butter" }))
    let error = await Self.error { try await database.save(mine) }
    #expect(error?.code == .serverRecordChanged)
    #expect(error?.serverRecord?["title"] == "Butter")
    #expect(error?.clientRecord?["title"] == "Bread")
    #expect(error?.ancestorRecord?["title"] == "Milk")
    let server = try #require(error?.serverRecord)
    #expect(server["count"] == 1)
    server["title"] = "Bread and butter"
    let merged = try await database.save(server)
    #expect(merged["title"] == "Bread and butter")
  }

  @Test("a new record meets one that another device has made, in a zone of its own too")
  func conflictOfNewRecord() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
    let recordID = CKRecord.ID(recordName: "n", zoneID: zone.zoneID)
    cloud.fail(next: .conflict(changing: { $0["title"] = "Theirs" }))
    let error = await Self.error {
      try await database.save(CKRecord(recordType: "Note", recordID: recordID))
    }
    #expect(error?.code == .serverRecordChanged)
    #expect(error?.serverRecord?["title"] == "Theirs")
  }

  @Test("a conflict waits for a save that can meet one")
  func conflictWaits() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let recordID = CKRecord.ID(recordName: "n")
    let saved = try await database.save(CKRecord(recordType: "Note", recordID: recordID))
    cloud.fail(next: .conflict)
    _ = try await database.record(for: recordID)
    _ = try await database.modifyRecords(saving: [saved], deleting: [], savePolicy: .allKeys)
    #expect(cloud.waitingFaults == 1)
    let error = await Self.error { try await database.save(saved) }
    #expect(error?.code == .serverRecordChanged)
    #expect(error?.serverRecord?.recordID == recordID)
  }

  @Test("a full quota refuses each record of a batch, a child and its parent too")
  func quota() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    let records = ["a", "b"].map {
      CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: $0))
    }
    records[1].setParent(records[0])
    cloud.fail(next: .quotaExceeded)
    let (results, _) = try await database.modifyRecords(
      saving: records, deleting: [], atomically: false)
    #expect(results.count == 2)
    for result in results.values {
      let error = #expect(throws: CKError.self) { try result.get() }
      #expect(error?.code == .quotaExceeded)
    }
    #expect(
      try await database.records(for: records.map(\.recordID)).values.allSatisfy {
        (try? $0.get()) == nil
      })
  }

  @Test("a fault strikes whom it is meant for")
  func targets() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone").publicCloudDatabase
    let tablet = cloud.container(user: "anna", device: "ipad").publicCloudDatabase
    let other = cloud.container(user: "ben", device: "iphone").publicCloudDatabase
    cloud.fail(next: .networkLoss, user: "anna", device: "iphone", operation: .modifyRecords)
    try await tablet.save(CKRecord(recordType: "Note"))
    try await other.save(CKRecord(recordType: "Note"))
    _ = try await phone.allSubscriptions()
    #expect(await Self.error { try await phone.save(CKRecord(recordType: "Note")) } != nil)
    try await phone.save(CKRecord(recordType: "Note"))
  }

  @Test("faults strike in turn, as often as was asked for")
  func order() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    cloud.fail(next: .networkLoss, times: 2)
    cloud.fail(next: .zoneBusy())
    cloud.fail(next: .networkLoss, times: .max)
    cloud.fail(next: .networkLoss, times: .max)
    #expect(cloud.waitingFaults == .max)
    var codes: [CKError.Code?] = []
    for _ in 1...5 {
      codes.append(await Self.error { try await database.save(CKRecord(recordType: "Note")) }?.code)
    }
    #expect(
      codes == [
        .networkUnavailable, .networkUnavailable, .zoneBusy, .networkUnavailable,
        .networkUnavailable,
      ])
    cloud.removeFaults()
    try await database.save(CKRecord(recordType: "Note"))
  }

  @Test("a patient operation tries again by itself")
  func patience() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    cloud.fail(next: .rateLimited(retryAfter: 0.01), times: 3)
    let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
      let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord(recordType: "Note")])
      operation.qualityOfService = .utility
      operation.modifyRecordsResultBlock = { continuation.resume(returning: $0) }
      database.add(operation)
    }
    #expect(throws: Never.self) { try result.get() }
    #expect(cloud.waitingFaults == 0)
  }

  @Test("the poll for notifications takes no fault that is meant for other requests")
  func background() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad", registersForPushes: false)
    cloud.fail(next: .networkLoss)
    try await tablet.remoteNotifications().register()
    #expect(cloud.waitingFaults == 1)
    cloud.fail(next: .networkLoss, operation: .registerDevice)
    let error = await Self.error {
      try await tablet.registerForRemoteNotifications(
        deviceToken: Data(repeating: 7, count: 32))
    }
    #expect(error?.code == .networkUnavailable)
    #expect(cloud.waitingFaults == 1)
  }
}
