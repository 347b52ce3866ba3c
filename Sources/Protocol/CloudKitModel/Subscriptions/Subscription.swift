/// A request of a user to receive notifications of future changes.
///
/// A subscription belongs to one user and one database. It is active as soon as the server has
/// answered the save.
public struct Subscription: Sendable, Hashable {
  /// The events on which a query subscription fires, and whether it fires only once. The raw values
  /// are those of `CKQuerySubscription.Options`.
  public struct Options: OptionSet, Sendable, Hashable {
    /// The options as bits: 1 creation, 2 update, 4 deletion, 8 once.
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The subscription fires when a matching record is created.
    public static let firesOnRecordCreation = Options(rawValue: 1)
    /// The subscription fires when a record is updated and matches afterwards.
    public static let firesOnRecordUpdate = Options(rawValue: 2)
    /// The subscription fires when a record that matched is deleted.
    public static let firesOnRecordDeletion = Options(rawValue: 4)
    /// The server deletes the subscription when it fires for the first time.
    public static let firesOnce = Options(rawValue: 8)

    /// The three options that stand for events. A query subscription needs at least one.
    public static let events: Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
  }

  /// The kind of a subscription with the settings of that kind.
  public enum Kind: Sendable, Hashable {
    /// A subscription that fires on changes of records that pass the query's filters. It watches
    /// one zone, or every zone of the database when `zoneID` is nil.
    case query(Query, zoneID: ZoneID?, options: Options)
    /// A subscription that fires on each change in a custom zone. With a record type, it fires only
    /// on changes of such records.
    case recordZone(ZoneID, recordType: String?)
    /// A subscription that fires on each change in any custom zone. With a record type, it fires
    /// only on changes of such records.
    case database(recordType: String?)
  }

  /// The name of a kind of subscription. Messages contain the raw values.
  public enum KindName: String, Sendable, Hashable, CaseIterable {
    /// The name of ``Subscription/Kind/query(_:zoneID:options:)``.
    case query
    /// The name of ``Subscription/Kind/recordZone(_:recordType:)``.
    case zone
    /// The name of ``Subscription/Kind/database(recordType:)``.
    case database
  }

  /// The identifier of the subscription, unique for its user in the database. Saving another
  /// subscription with the same ID replaces it.
  public var subscriptionID: String
  /// The kind of the subscription with its settings.
  public var kind: Kind
  /// The content of the notifications; nil for silent pushes, which start the app in the
  /// background.
  public var notificationInfo: NotificationInfo?

  /// Creates a subscription without checks; call ``validate(in:)`` to check it.
  public init(subscriptionID: String, kind: Kind, notificationInfo: NotificationInfo? = nil) {
    self.subscriptionID = subscriptionID
    self.kind = kind
    self.notificationInfo = notificationInfo
  }

  /// Whether the server deletes the subscription when it fires. Only query subscriptions can have
  /// this option.
  public var firesOnce: Bool {
    if case .query(_, _, let options) = kind { return options.contains(.firesOnce) }
    return false
  }

  /// Returns whether the subscription fires on `change`. It does not check whether the subscriber
  /// may read the record; ``RecordAccess`` decides that.
  ///
  /// Creations and updates are matched on the new values, deletions on the last values. An update
  /// after which the record no longer matches does not fire.
  public func matches(_ change: Change) -> Bool { kind.matches(change) }
}

extension Subscription.Kind {
  /// The name of the kind, without its settings.
  public var name: Subscription.KindName {
    switch self {
    case .query: .query
    case .recordZone: .zone
    case .database: .database
    }
  }

  /// Returns whether a subscription of this kind fires on `change`, by the rules of
  /// ``Subscription/matches(_:)``.
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
