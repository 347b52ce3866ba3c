internal import CloudKitModel

/// The protocol that gives ``CKNotification`` its initializer from a payload.
///
/// An initializer in a protocol extension can assign `self`, so it can return the subclass for the kind of the payload.
public protocol CKNotificationConstructible {}

extension CKNotificationConstructible where Self: CKNotification {
  /// Creates the notification of a push payload.
  ///
  /// The result has the subclass for the payload's kind, such as ``CKQueryNotification``. The initializer returns `nil`
  /// when the payload is not CloudKit's, and when the payload's kind is not the called class.
  ///
  /// - Parameter notificationDictionary: the payload as the app received it.
  public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
    guard let notification = CKNotification.read(notificationDictionary, fields: [:]) as? Self
    else {
      return nil
    }
    self = notification
  }
}

extension CKNotification {
  /// Returns the notification of a payload; `nil` when there is no `ck` object.
  ///
  /// - Parameter fields: the values of the desired keys from the notification log. Empty for a push, whose payload
  ///   holds the values itself.
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

  /// Returns the scope of the database in the part of a kind.
  private static func databaseScope(_ kind: PayloadObject?) -> CKDatabase.Scope {
    kind?.integer("dbs").flatMap { DatabaseScope(payloadNumber: $0) }
      .map { CKDatabase.Scope($0) } ?? .undisclosed
  }

  /// Returns the ID of the record; `nil` when a part of the ID is missing.
  private static func recordID(_ kind: PayloadObject, ck: PayloadObject) -> CKRecord.ID? {
    guard let name = kind.string("rid"), !name.isEmpty, let zoneID = zoneID(kind, ck: ck) else {
      return nil
    }
    return CKRecord.ID(recordName: name, zoneID: zoneID)
  }

  /// Returns the zone; `nil` when a part of the ID is missing.
  ///
  /// Zones of the user and the zone of the public database have the owner `CKCurrentUserDefaultName`, as in IDs that
  /// the app creates.
  private static func zoneID(_ kind: PayloadObject, ck: PayloadObject) -> CKRecordZone.ID? {
    guard let zone = kind.string("zid"), !zone.isEmpty, let owner = kind.string("zoid"),
      !owner.isEmpty
    else { return nil }
    return CKRecordZone.ID(zoneName: zone, ownerName: ownerName(owner, of: kind, ck: ck))
  }

  /// Returns the owner name for the app's IDs.
  ///
  /// The payload names the user's own zones by the user's record name, and the owner of the public database's zone by
  /// `_defaultOwner`.
  static func ownerName(_ owner: String, of kind: PayloadObject, ck: PayloadObject) -> String {
    let isOwn =
      owner == "_defaultOwner"
      || (owner == ck.string("ckuserid") && ![.public, .shared].contains(databaseScope(kind)))
    return isOwn ? CKCurrentUserDefaultName : owner
  }
}
