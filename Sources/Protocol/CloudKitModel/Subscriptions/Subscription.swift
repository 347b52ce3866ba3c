/// A standing wish to be told of changes.
public struct Subscription: Sendable, Hashable {
  /// The events a query subscription fires on, and whether it fires only once. The raw values are
  /// those of `CKQuerySubscription.Options`.
  public struct Options: OptionSet, Sendable, Hashable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let firesOnRecordCreation = Options(rawValue: 1)
    public static let firesOnRecordUpdate = Options(rawValue: 2)
    public static let firesOnRecordDeletion = Options(rawValue: 4)
    public static let firesOnce = Options(rawValue: 8)

    public static let events: Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
  }

  public enum Kind: Sendable, Hashable {
    /// Fires on changes of records that pass the query's filters; in one zone, or in every zone of
    /// the database when `zoneID` is nil.
    case query(Query, zoneID: ZoneID?, options: Options)
    /// Fires on any change in a custom zone; on those of one record type when one is named.
    case recordZone(ZoneID, recordType: String?)
    /// Fires on any change in any custom zone; on those of one record type when one is named.
    case database(recordType: String?)
  }

  /// The name of a kind.
  public enum KindName: String, Sendable, Hashable, CaseIterable {
    case query
    case zone
    case database
  }

  public var subscriptionID: String
  public var kind: Kind
  public var notificationInfo: NotificationInfo?

  public init(subscriptionID: String, kind: Kind, notificationInfo: NotificationInfo? = nil) {
    self.subscriptionID = subscriptionID
    self.kind = kind
    self.notificationInfo = notificationInfo
  }

  /// Whether the subscription is deleted when it fires.
  public var firesOnce: Bool {
    if case .query(_, _, let options) = kind { return options.contains(.firesOnce) }
    return false
  }

  /// Whether the subscription fires on `change`. It does not ask who may read the record.
  ///
  /// Creations and updates are matched on the new values, deletions on the last ones; an update
  /// that leaves the match does not fire.
  public func matches(_ change: Change) -> Bool { kind.matches(change) }
}

extension Subscription.Kind {
  public var name: Subscription.KindName {
    switch self {
    case .query: .query
    case .recordZone: .zone
    case .database: .database
    }
  }

  /// Whether a subscription of this kind fires on `change`; see ``Subscription/matches(_:)``.
  public func matches(_ change: Change) -> Bool {
    switch self {
    case .query(let query, let zoneID, let options):
      guard let record = change.record, let needed = change.event.queryOption else { return false }
      return options.contains(needed) && (zoneID == nil || zoneID == change.zoneID)
        && query.matches(record)
    case .recordZone(let zoneID, let recordType):
      return zoneID == change.zoneID && !change.zoneID.isDefaultZone
        && (recordType == nil || recordType == change.record?.recordType)
    case .database(let recordType):
      return !change.zoneID.isDefaultZone
        && (recordType == nil || recordType == change.record?.recordType)
    }
  }
}
