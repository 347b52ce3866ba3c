/// That a record-zone subscription fired: something in the zone changed.
open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
  public let recordZoneID: CKRecordZone.ID?
  /// The database; a scope of the raw value 0 where the payload does not say.
  public let databaseScope: CKDatabase.Scope

  init(_ contents: Contents, recordZoneID: CKRecordZone.ID?, databaseScope: CKDatabase.Scope) {
    self.recordZoneID = recordZoneID
    self.databaseScope = databaseScope
    super.init(contents, type: .recordZone)
  }

  open override var description: String {
    let zone = recordZoneID.map { ", zone \($0.zoneName):\($0.ownerName)" }
    return described("\(zone ?? ""), \(databaseScope) database")
  }
}
