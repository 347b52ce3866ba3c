/// The notification of a record-zone subscription: something in the zone has changed. Fetch the
/// zone's changes.
open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
  /// The ID of the zone; `nil` when the payload does not name the zone.
  public let recordZoneID: CKRecordZone.ID?
  /// The scope of the database. If the payload does not name the scope, the raw value is 0. Only
  /// `default` and `@unknown default` match it.
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
