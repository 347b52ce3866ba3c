/// The notification of a query subscription that fired on one record.
open class CKQueryNotification: CKNotification, @unchecked Sendable {
  /// The event that the record had.
  public enum Reason: Int, Sendable {
    /// The reason in a notification whose payload has lost it.
    ///
    /// Code cannot name or create this case, as on Apple's systems. In a `switch`, `default` and `@unknown default`
    /// match it. A `switch` with neither traps on it.
    @available(*, unavailable)
    case unknown = 0
    /// The record was created and matches the predicate.
    case recordCreated = 1
    /// The record was changed, and its new values match the predicate.
    case recordUpdated = 2
    /// The record was deleted, and its last values matched the predicate.
    case recordDeleted = 3
  }

  /// The event that the record had; the unnamed case with the raw value 0 when the payload does not say.
  public let queryNotificationReason: Reason
  /// The values of the subscription's desired keys; `nil` for deletions, and when the server left them out.
  ///
  /// In a push, dates are numbers: seconds since 1970-01-01 UTC. Strings end after 100 characters. Bytes and lists are
  /// missing. A push that lacks such values is pruned.
  ///
  /// A notification from the notification log has the values as in a record. Only assets are missing, and a
  /// notification that lacks an asset is pruned.
  public let recordFields: [String: Any]?
  /// The ID of the record; `nil` when the server left it out to shorten the payload.
  public let recordID: CKRecord.ID?
  /// The scope of the database; the unnamed case with the raw value 0 when the payload does not say.
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

extension CKQueryNotification.Reason {
  /// The case of the raw value 0.
  ///
  /// The case is marked unavailable, so code does not have to handle it in a `switch`. Code can only create it from its
  /// bits. The compiler numbers cases without values in the order of their declaration, so the first case has the bits
  /// 0.
  static var undisclosed: Self { unsafeBitCast(UInt8(0), to: Self.self) }
}
