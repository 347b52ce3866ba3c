/// The notification of a record-zone subscription: something in the zone has changed.
open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
  /// The zone; `nil` when the payload does not name it. Fetch the zone's changes.
  public let recordZoneID: CKRecordZone.ID?
  /// The scope of the database; the unnamed case with the raw value 0 when the payload does not
  /// say.
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
