/// That a query subscription fired on one record.
open class CKQueryNotification: CKNotification, @unchecked Sendable {
  /// What happened to the record.
  public enum Reason: Int, Sendable {
    /// What a notification says whose payload lost its reason. Code can neither name nor make it, as on Apple's systems:
    /// `default` and `@unknown default` take it, and a switch that has neither traps on it.
    @available(*, unavailable)
    case unknown = 0
    case recordCreated = 1
    case recordUpdated = 2
    case recordDeleted = 3
  }

  /// What happened; a reason of the raw value 0 where the payload does not say.
  public let queryNotificationReason: Reason
  /// The values of the subscription's desired keys; nil for deletions and where they were left out.
  ///
  /// In a notification of the notification log they are as in a record: all but assets, for which it is pruned. In a push,
  /// dates are numbers: seconds since 1970-01-01 UTC; bytes and lists are missing, and strings end after 100 characters: what a
  /// push lacks so makes it pruned.
  public let recordFields: [String: Any]?
  public let recordID: CKRecord.ID?
  /// The database; a scope of the raw value 0 where the payload does not say.
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

extension CKQueryNotification.Reason {
  /// The case of the raw value 0, which is unavailable so that no code has to switch over it. Only its bits can make it: the
  /// compiler numbers cases without values in the order of their declaration.
  static var undisclosed: Self { unsafeBitCast(UInt8(0), to: Self.self) }
}
