import CloudKit
import Testing

struct SharingTests {
  private let url = URL(string: "https://petrel.example/share/0abc")!

  private func error<Value>(_ result: Result<Value, any Error>?) -> CKError? {
    if case .failure(let error) = result { return error as? CKError }
    return nil
  }

  @Test("Saving a share fails with serverRejectedRequest, and its root with batchRequestFailed")
  @available(*, deprecated)
  func saving() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      try await database.save(CKRecordZone(zoneID: zoneID))
      let root = CKRecord(
        recordType: "Note", recordID: CKRecord.ID(recordName: "root", zoneID: zoneID))
      let share = CKShare(rootRecord: root)
      share[CKShare.SystemFieldKey.title] = "Plans"
      let outcome = await database.outcome(
        of: CKModifyRecordsOperation(recordsToSave: [root, share]))
      let refusal = outcome.errors[share.recordID.recordName]
      #expect(refusal?.code == .serverRejectedRequest)
      #expect(refusal?.localizedDescription == "sharing is not supported by this server")
      #expect(outcome.errors["root"]?.code == .batchRequestFailed)
      #expect(outcome.completionError?.code == .partialFailure)
      #expect(outcome.resultError == nil)
      let single = await #expect(throws: CKError.self) { try await database.save(share) }
      #expect(single?.code == .serverRejectedRequest)
      let whole = await #expect(throws: CKError.self) {
        try await database.save(CKShare(recordZoneID: zoneID))
      }
      #expect(whole?.code == .serverRejectedRequest)
      let missing = await #expect(throws: CKError.self) {
        try await database.record(for: share.recordID)
      }
      #expect(missing?.code == .unknownItem)
    }
  }

  @Test("Looking at shares reaches the server, whose refusal is each share's error")
  func metadata() async throws {
    try await Cloud.run { cloud in
      let container = try await cloud.container(of: "anna", device: "phone")
      let single = await #expect(throws: CKError.self) {
        try await container.shareMetadata(for: url)
      }
      #expect(single?.code == .serverRejectedRequest)
      #expect(single?.localizedDescription == "sharing is not supported by this server")
      let other = url.appendingPathComponent("1")
      let results = try await container.shareMetadatas(for: [url, other])
      #expect(results.count == 2)
      #expect(error(results[url])?.code == .serverRejectedRequest)
      #expect(error(results[other])?.code == .serverRejectedRequest)
      let access = try await container.requestShareAccess(for: [url, other])
      #expect(access.count == 2)
      #expect(error(access[url])?.code == .serverRejectedRequest)
      let nobody = await cloud.container(token: nil, device: "x")
      let stranger = await #expect(throws: CKError.self) {
        try await nobody.shareMetadatas(for: [url])
      }
      #expect(stranger?.code == .notAuthenticated)
    }
  }

  @Test("Participants are made whether the server knows them or not")
  func participants() async throws {
    try await Cloud.run { cloud in
      let container = try await cloud.container(of: "anna", device: "phone")
      let ben = try await container.shareParticipant(forEmailAddress: "ben@example.com")
      #expect(!ben.userIdentity.hasiCloudAccount)
      #expect(ben.acceptanceStatus == .pending)
      let unknown = await #expect(throws: CKError.self) {
        try await container.shareParticipant(
          forUserRecordID: CKRecord.ID(recordName: "_nobody"))
      }
      #expect(unknown?.code == .unknownItem)
    }
  }
}
