/// That a query subscription fired on one record.
open class CKQueryNotification: CKNotification, @unchecked Sendable {
  /// What happened to the record.
  public enum Reason: Int, Sendable {
    case recordCreated = 1
    case recordUpdated = 2
    case recordDeleted = 3
  }

  /// What happened; `recordUpdated` where the payload does not say.
  public let queryNotificationReason: Reason
  /// The values of the subscription's desired keys; nil for deletions and where they were left out.
  /// Dates come as numbers: seconds since 1970-01-01 UTC.
  public let recordFields: [String: Any]?
  public let recordID: CKRecord.ID?
  /// The database; the private one where the payload does not say.
  public let databaseScope: CKDatabase.Scope

  @available(*, deprecated, message: "Use databaseScope")
  open var isPublicDatabase: Bool { databaseScope == .public }

  init(
    _ contents: Contents, reason: Reason, recordFields: [String: Any]?, recordID: CKRecord.ID?,
    databaseScope: CKDatabase.Scope
  ) {
    queryNotificationReason = reason
    self.recordFields = recordFields
    self.recordID = recordID
    self.databaseScope = databaseScope
    super.init(contents, type: .query)
  }

  open override var description: String {
    let record = recordID.map {
      " \($0.recordName), zone \($0.zoneID.zoneName):\($0.zoneID.ownerName)"
    }
    return described(
      ", \(queryNotificationReason)\(record ?? ""), \(databaseScope) database"
        + (recordFields.map { ", fields \($0.keys.sorted())" } ?? ""))
  }
}
