/// The notification of a query subscription that fired on one record.
open class CKQueryNotification: CKNotification, @unchecked Sendable {
  /// The event on which the subscription fired.
  public typealias Reason = CKQueryNotificationReason

  /// The event on which the subscription fired. If the payload does not name the event, the raw value is 0.
  /// Only `default` and `@unknown default` match it.
  public let queryNotificationReason: Reason
  /// The values of the subscription's desired keys, by the names of the fields. `nil` when the server left all values
  /// out. For a deletion the value is `nil`, unless the server is configured to send a deleted record's last values.
  ///
  /// In a push, a date is a number: the seconds since 1970-01-01 UTC. Strings end after 100 characters. Bytes, assets
  /// and lists are missing. If a value is cut or missing, ``CKNotification/isPruned`` is true.
  ///
  /// A notification from the notification log has the values as a record has them. Only assets are missing. If an asset
  /// is missing, ``CKNotification/isPruned`` is true.
  public let recordFields: [String: Any]?
  /// The ID of the record; `nil` when the server left it out to shorten the payload.
  public let recordID: CKRecord.ID?
  /// The scope of the database. If the payload does not name the scope, the raw value is 0. Only `default` and
  /// `@unknown default` match it.
  public let databaseScope: CKDatabase.Scope

  /// Whether the record is in the public database.
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
