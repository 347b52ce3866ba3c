internal import CloudKitModel

/// The protocol that adds the initializer from a payload to ``CKNotification``.
///
/// An initializer in a protocol extension can assign `self`. So it can return an object of the subclass for the
/// payload.
public protocol CKNotificationConstructible {}

extension CKNotificationConstructible where Self: CKNotification {
  /// Creates the notification of a push payload.
  ///
  /// The result is an object of the subclass for the payload, such as ``CKQueryNotification``. iCloud was seen to send
  /// payloads with nothing but the IDs of the notification and the container. The result is then a ``CKNotification``
  /// whose type has the number 0, as on Apple's systems; treat it as a hint that something changed. The initializer
  /// returns `nil` when the payload is not CloudKit's. It also returns `nil` when a program calls it on a subclass to which the
  /// payload does not belong.
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
  /// Creates the notification from a payload; `nil` when the payload has no object `ck`.
  ///
  /// - Parameter fields: the values of the desired keys, for an entry of the notification log. Empty for a push: its
  ///   payload has the values.
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
        reason: CKQueryNotification.Reason(number: query.integer("fo") ?? 0),
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
    if let database = ck.object("met") {
      return CKDatabaseNotification(
        Contents(ck: ck, kind: database, aps: aps), databaseScope: databaseScope(database))
    }
    return CKNotification(
      Contents(ck: ck, kind: nil, aps: aps), type: NotificationType(number: 0))
  }

  /// Returns the zone whose change a payload of a zone or database subscription reports; `nil` for other
  /// payloads.
  static func changedZoneID(in payload: [AnyHashable: Any]) -> CKRecordZone.ID? {
    guard let ck = PayloadObject(payload)?.object("ck"),
      let kind = ck.object("fet") ?? ck.object("met")
    else { return nil }
    return zoneID(kind, ck: ck)
  }

  private static func databaseScope(_ kind: PayloadObject) -> CKDatabase.Scope {
    kind.integer("dbs").flatMap { DatabaseScope(payloadNumber: $0) }
      .map { CKDatabase.Scope($0) } ?? .undisclosed
  }

  private static func recordID(_ kind: PayloadObject, ck: PayloadObject) -> CKRecord.ID? {
    guard let name = kind.string("rid"), !name.isEmpty, let zoneID = zoneID(kind, ck: ck) else {
      return nil
    }
    return CKRecord.ID(recordName: name, zoneID: zoneID)
  }

  /// Returns the ID of the zone; `nil` when a part of the ID is missing.
  ///
  /// The user's own zones and the zone of the public database have the owner `CKCurrentUserDefaultName`, as in IDs that
  /// the app creates.
  private static func zoneID(_ kind: PayloadObject, ck: PayloadObject) -> CKRecordZone.ID? {
    guard let zone = kind.string("zid"), !zone.isEmpty, let owner = kind.string("zoid"),
      !owner.isEmpty
    else { return nil }
    return CKRecordZone.ID(zoneName: zone, ownerName: ownerName(owner, of: kind, ck: ck))
  }

  /// Returns the owner's name as the app's IDs have it, for an owner's name in a payload.
  ///
  /// For the user's own zones, the payload has the user's record name. For the zone of the public database, it has
  /// `_defaultOwner`. Both become `CKCurrentUserDefaultName`.
  static func ownerName(_ owner: String, of kind: PayloadObject, ck: PayloadObject) -> String {
    let isOwn =
      owner == "_defaultOwner"
      || (owner == ck.string("ckuserid") && ![.public, .shared].contains(databaseScope(kind)))
    return isOwn ? CKCurrentUserDefaultName : owner
  }
}
