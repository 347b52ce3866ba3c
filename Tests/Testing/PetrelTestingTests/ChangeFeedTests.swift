import CloudKit
import Foundation
import PetrelTesting
import Testing

struct ChangeFeedTests {
  @Test("a zone's token that is too old on demand; a zone without one is read all the same")
  func zones() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    let zones = ["A", "B"].map { CKRecordZone(zoneName: $0) }
    for zone in zones {
      try await database.save(zone)
      try await database.save(
        CKRecord(
          recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zone.zoneID)))
    }
    cloud.fail(next: .changeTokenExpired)
    let first = try await database.recordZoneChanges(inZoneWith: zones[0].zoneID, since: nil)
    #expect(first.modificationResultsByID.count == 1)
    #expect(cloud.waitingFaults == 1)
    let results = await results(
      in: database, [zones[0].zoneID: first.changeToken, zones[1].zoneID: nil])
    #expect(cloud.waitingFaults == 0)
    #expect(results[zones[0].zoneID] == .changeTokenExpired)
    #expect(results[zones[1].zoneID] == .some(nil))
    let again = try await database.recordZoneChanges(
      inZoneWith: zones[0].zoneID, since: first.changeToken)
    #expect(again.modificationResultsByID.isEmpty)
  }

  @Test("a database's token that is too old on demand")
  func database() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    try await database.save(CKRecordZone(zoneName: "A"))
    let first = try await database.databaseChanges(since: nil)
    #expect(first.modifications.count == 1)
    cloud.fail(next: .changeTokenExpired, operation: .fetchDatabaseChanges)
    let error = await #expect(throws: CKError.self) {
      try await database.databaseChanges(since: first.changeToken)
    }
    #expect(error?.code == .changeTokenExpired)
    #expect(try await database.databaseChanges(since: first.changeToken).modifications.isEmpty)
  }

  @available(*, deprecated)
  @Test("a token of the notification log that is too old on demand")
  func notifications() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad")
    cloud.fail(next: .changeTokenExpired)
    let token = try await notificationToken(in: tablet, since: nil)
    #expect(cloud.waitingFaults == 1)
    let error = await #expect(throws: CKError.self) {
      try await notificationToken(in: tablet, since: token)
    }
    #expect(error?.code == .changeTokenExpired)
    _ = try await notificationToken(in: tablet, since: token)
  }

  @Test("a silent push, then a fetch of what it told of")
  func sync() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let subscription = CKDatabaseSubscription(subscriptionID: "all")
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    try await tablet.save(subscription)
    let zone = CKRecordZone(zoneName: "Notes")
    try await phone.save(zone)
    try await phone.save(
      CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zone.zoneID)))
    let pushes = await cloud.pushes(to: "anna", device: "ipad")
    #expect(!pushes.isEmpty && pushes.allSatisfy { $0.kind == .background })
    let changed = try await tablet.databaseChanges(since: nil).modifications.map(\.zoneID)
    #expect(changed == [zone.zoneID])
    let changes = try await tablet.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
    #expect(changes.modificationResultsByID.keys.map(\.recordName) == ["n"])
  }

  /// How reading each zone since its token went: its error, or nil.
  private func results(
    in database: CKDatabase, _ tokens: [CKRecordZone.ID: CKServerChangeToken?]
  ) async -> [CKRecordZone.ID: CKError.Code?] {
    await withCheckedContinuation { continuation in
      let operation = CKFetchRecordZoneChangesOperation()
      operation.qualityOfService = .userInitiated
      operation.recordZoneIDs = Array(tokens.keys)
      operation.configurationsByRecordZoneID = tokens.mapValues { token in
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration()
        configuration.previousServerChangeToken = token
        return configuration
      }
      nonisolated(unsafe) var results: [CKRecordZone.ID: CKError.Code?] = [:]
      operation.recordZoneFetchResultBlock = { zoneID, result in
        switch result {
        case .success: results[zoneID] = .some(nil)
        case .failure(let error): results[zoneID] = (error as? CKError)?.code
        }
      }
      operation.fetchRecordZoneChangesResultBlock = { _ in
        continuation.resume(returning: results)
      }
      database.add(operation)
    }
  }

  @available(*, deprecated)
  private func notificationToken(
    in container: CKContainer, since token: CKServerChangeToken?
  ) async throws -> CKServerChangeToken? {
    try await withCheckedThrowingContinuation { continuation in
      let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: token)
      operation.qualityOfService = .userInitiated
      operation.fetchNotificationChangesCompletionBlock = { token, error in
        if let error {
          continuation.resume(throwing: error)
        } else {
          continuation.resume(returning: token)
        }
      }
      container.add(operation)
    }
  }
}
