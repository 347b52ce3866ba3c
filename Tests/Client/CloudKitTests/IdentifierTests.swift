import CloudKit
import CloudKitModel
import Testing

struct IdentifierTests {
  private let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: "_abc")

  @Test("A record ID without arguments is a new UUID in the default zone")
  func defaults() {
    let id = CKRecord.ID()
    #expect(UUID(uuidString: id.recordName) != nil)
    #expect(id.zoneID == .default)
    #expect(id.zoneID.zoneName == "_defaultZone")
    #expect(id.zoneID.ownerName == CKCurrentUserDefaultName)
    #expect(CKRecordZone.ID(zoneName: "A").ownerName == "__defaultOwner__")
    #expect(CKRecordZone.default().zoneID == .default)
    #expect(CKRecordZone(zoneName: "A").capabilities == [])
  }

  @Test("IDs are equal by value and work as dictionary keys")
  func equality() {
    let a = CKRecord.ID(recordName: "a", zoneID: zoneID)
    let b = CKRecord.ID(
      recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Notes", ownerName: "_abc"))
    #expect(a == b)
    #expect([a: 1][b] == 1)
    #expect(a != CKRecord.ID(recordName: "a"))
    #expect(
      CKRecord.Reference(recordID: a, action: .none)
        == CKRecord.Reference(recordID: b, action: .none))
  }

  @Test("IDs, zones, references and assets go through secure archives")
  func archiving() throws {
    let id = CKRecord.ID(recordName: "a", zoneID: zoneID)
    #expect(try archivedAndBack(id) == id)
    #expect(try archivedAndBack(zoneID) == zoneID)
    let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
    #expect(try archivedAndBack(reference).action == .deleteSelf)
    let zone = try archivedAndBack(
      CKRecordZone(zoneID: zoneID, capabilities: .all, share: reference))
    #expect(zone.zoneID == zoneID)
    #expect(zone.capabilities.contains([.atomic, .zoneWideSharing]))
    #expect(zone.share == reference)
    let asset = try archivedAndBack(CKAsset(fileURL: URL(fileURLWithPath: "/tmp/picture")))
    #expect(asset.fileURL?.path == "/tmp/picture")
    #expect(asset.storedAsset == nil)
    let stored = Asset(fileChecksum: "c", size: 5, receipt: "r")
    #expect(try archivedAndBack(CKAsset(fileURL: nil, stored: stored)).storedAsset == stored)
  }

  @Test("IDs become the model's and come back")
  func conversion() {
    let id = CKRecord.ID(recordName: "a", zoneID: zoneID)
    #expect(
      id.model
        == RecordID(recordName: "a", zoneID: ZoneID(zoneName: "Notes", ownerName: "_abc")))
    #expect(CKRecord.ID(id.model) == id)
    let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
    #expect(CKRecord.Reference(reference.model, in: .default) == reference)
    let bare = CKRecord.Reference(Reference(recordName: "b"), in: zoneID)
    #expect(bare.recordID.zoneID == zoneID)
  }

  @Test("An empty record name stops the program")
  func emptyRecordName() async {
    await #expect(processExitsWith: .failure) { _ = CKRecord.ID(recordName: "") }
  }

  @Test("An empty zone name stops the program")
  func emptyZoneName() async {
    await #expect(processExitsWith: .failure) { _ = CKRecordZone(zoneName: "") }
  }

  @Test("An asset that is no file stops the program")
  func assetOfWebAddress() async {
    await #expect(processExitsWith: .failure) {
      _ = CKAsset(fileURL: URL(string: "https://example.com/a")!)
    }
  }
}
