internal import CloudKitModel

/// Gives ``CKNotification`` an initializer that returns the subclass for the payload's kind.
public protocol CKNotificationConstructible {}

extension CKNotificationConstructible where Self: CKNotification {
  /// The notification that a push carries; nil when the payload is not CloudKit's, or of another
  /// kind than the class that is asked.
  ///
  /// - Parameter notificationDictionary: The payload as the app received it.
  public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
    guard let notification = CKNotification.read(notificationDictionary, fields: [:]) as? Self
    else {
      return nil
    }
    self = notification
  }
}

extension CKNotification {
  /// - Parameter fields: The values of desired keys that stand beside the payload; a push has them in it.
  static func read(
    _ payload: [AnyHashable: Any], fields: RecordFields<RecordValue>
  ) -> CKNotification? {
    guard let payload = PayloadObject(payload), let ck = payload.object("ck") else { return nil }
    let aps = payload.object("aps")
    if let query = ck.object("qry") {
      let recordID = recordID(query, ck: ck)
      let zoneID = recordID?.zoneID ?? .default
      return CKQueryNotification(
        Contents(ck: ck, kind: query, aps: aps),
        reason: query.integer("fo").flatMap { CKQueryNotification.Reason(rawValue: $0) }
          ?? .undisclosed,
        recordFields: fields.isEmpty
          ? query.object("af").map { recordFields($0, of: query, ck: ck) }
          : Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.value.object(in: zoneID)) }),
        recordID: recordID, databaseScope: databaseScope(query))
    }
    if let zone = ck.object("fet") {
      return CKRecordZoneNotification(
        Contents(ck: ck, kind: zone, aps: aps), recordZoneID: zoneID(zone, ck: ck),
        databaseScope: databaseScope(zone))
    }
    let database = ck.object("met")
    return CKDatabaseNotification(
      Contents(ck: ck, kind: database, aps: aps), databaseScope: databaseScope(database))
  }

  private static func databaseScope(_ kind: PayloadObject?) -> CKDatabase.Scope {
    kind?.integer("dbs").flatMap { DatabaseScope(payloadNumber: $0) }
      .map { CKDatabase.Scope($0) } ?? .undisclosed
  }

  private static func recordID(_ kind: PayloadObject, ck: PayloadObject) -> CKRecord.ID? {
    guard let name = kind.string("rid"), !name.isEmpty, let zoneID = zoneID(kind, ck: ck) else {
      return nil
    }
    return CKRecord.ID(recordName: name, zoneID: zoneID)
  }

  /// The zone, with its owner named as in IDs that the app makes: the user's own zones and those of
  /// the public database belong to `CKCurrentUserDefaultName`.
  private static func zoneID(_ kind: PayloadObject, ck: PayloadObject) -> CKRecordZone.ID? {
    guard let zone = kind.string("zid"), !zone.isEmpty, let owner = kind.string("zoid"),
      !owner.isEmpty
    else { return nil }
    return CKRecordZone.ID(zoneName: zone, ownerName: ownerName(owner, of: kind, ck: ck))
  }

  static func ownerName(_ owner: String, of kind: PayloadObject, ck: PayloadObject) -> String {
    let isOwn =
      owner == "_defaultOwner"
      || (owner == ck.string("ckuserid") && ![.public, .shared].contains(databaseScope(kind)))
    return isOwn ? CKCurrentUserDefaultName : owner
  }
}
