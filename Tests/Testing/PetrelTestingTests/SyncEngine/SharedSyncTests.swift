import CloudKit
import PetrelTesting
import SyncDevices
import Testing

/// A sync engine on the shared database.
struct SharedSyncTests {
  private let cloud: TestCloud
  private let owner: SyncDevice
  private let participant: SyncDevice

  /// Makes the owner's notes, shares their zone, and accepts the share as the participant.
  init() async throws {
    cloud = try await TestCloud()
    let anna = cloud.container(user: "anna", device: "phone")
    let ben = cloud.container(user: "ben", device: "pad")
    owner = SyncDevice(anna.privateCloudDatabase)
    participant = SyncDevice(
      ben.sharedCloudDatabase,
      zone: CKRecordZone.ID(
        zoneName: "notes", ownerName: try await anna.userRecordID().recordName))
    owner.start()
    owner.edit(["a": "1"])
    try await owner.engine.sendChanges()
    participant.start()
    try await participant.engine.fetchChanges()
    let share = CKShare(recordZoneID: owner.zoneID)
    share.publicPermission = .readWrite
    let url = try #require(try await (owner.database.save(share) as? CKShare)?.url)
    try await ben.accept(try await ben.shareMetadata(for: url))
  }

  private func share() async throws -> CKShare {
    let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: owner.zoneID)
    return try #require(try await owner.database.record(for: id) as? CKShare)
  }

  @Test("the records of a zone that was accepted a moment ago come with the fetch of that zone")
  func accepting() async throws {
    #expect(participant.titles.isEmpty)
    try await participant.engine.fetchChanges(
      .init(scope: .zoneIDs([participant.zoneID]), operationGroup: nil))
    #expect(participant.titles["a"] == "1")
  }

  @Test("owner and participant see each other's changes, and a conflict between them")
  func editing() async throws {
    try await participant.engine.fetchChanges()
    participant.edit(["a": "2", "b": "3"])
    try await participant.engine.sendChanges()
    owner.edit(["a": "9"])
    let conflict = await syncError { try await owner.engine.sendChanges() }
    let item = conflict?.partialErrorsByItemID?[owner.id("a")] as? CKError
    #expect(item?.code == .serverRecordChanged && item?.serverRecord?["title"] as? String == "2")
    try await owner.engine.sendChanges()
    try await owner.engine.fetchChanges()
    participant.edit(["a": "1"])
    #expect(await syncError { try await participant.engine.sendChanges() } != nil)
    try await participant.engine.fetchChanges()
    for device in [owner, participant] {
      #expect(device.titles["a"] == "9" && device.titles["b"] == "3")
    }
  }

  @Test("a participant who may only read gets permissionFailure for each record")
  func reading() async throws {
    try await participant.engine.fetchChanges()
    let share = try await share()
    share.publicPermission = .readOnly
    try await owner.database.save(share)
    participant.edit(["a": "2", "b": "3"])
    let error = await syncError { try await participant.engine.sendChanges() }
    let codes = error?.partialErrorsByItemID?.values.map { ($0 as? CKError)?.code }
    #expect(codes == [.permissionFailure, .permissionFailure])
    #expect(participant.engine.state.pendingRecordZoneChanges.isEmpty)
    try await owner.engine.fetchChanges()
    #expect(owner.titles["a"] == "1" && owner.titles["b"] == nil)
  }

  @Test("a share that ends is the deletion of the zone")
  func ending() async throws {
    try await participant.engine.fetchChanges()
    participant.clear()
    try await owner.database.deleteRecord(withID: share().recordID)
    try await participant.engine.fetchChanges()
    let deletions = participant.events.flatMap { event -> [CKDatabase.DatabaseChange.Deletion] in
      if case .fetchedDatabaseChanges(let changes) = event { changes.deletions } else { [] }
    }
    #expect(deletions.map(\.zoneID) == [participant.zoneID])
    #expect(participant.titles.isEmpty)
  }

  @Test("a participant cannot save a zone; the deletion of a zone leaves its share")
  func zones() async throws {
    try await participant.engine.fetchChanges()
    participant.engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "own"))])
    let error = await syncError { try await participant.engine.sendChanges() }
    #expect(
      error?.partialErrorsByItemID?.values.map { ($0 as? CKError)?.code } == [.badDatabase]
        || error?.code == .badDatabase)
    participant.engine.state.add(pendingDatabaseChanges: [.deleteZone(participant.zoneID)])
    try await participant.engine.sendChanges()
    #expect(try await participant.database.allRecordZones().isEmpty)
    try await owner.engine.fetchChanges()
    #expect(owner.titles["a"] == "1")
  }
}
