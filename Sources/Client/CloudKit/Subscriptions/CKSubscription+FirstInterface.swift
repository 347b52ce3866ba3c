// The interface of subscriptions in the SDKs of iOS 8 and 9, where one class stood for both kinds. A subscription that is
// made by it is saved as one of the classes that came after, and fetching gives those.

/// What `CKSubscription` had before iOS 10. It stands in a protocol, for the members of a class are its subclasses' too, where
/// these would be of other types. They are disfavoured, so that a subclass's own property is taken wherever it fits.
public protocol CKFirstSubscriptionInterface: CKSubscription {}

extension CKSubscription: CKFirstSubscriptionInterface {}

extension CKFirstSubscriptionInterface where Self == CKSubscription {
  /// - Precondition: the type is not empty, and the options name an event.
  @available(*, deprecated, message: "Use CKQuerySubscription")
  public init(
    recordType: CKRecord.RecordType, predicate: NSPredicate,
    options: CKQuerySubscription.Options
  ) {
    self.init(
      CKQuerySubscription(
        recordType: recordType, predicate: predicate, subscriptionID: UUID().uuidString,
        options: options))
  }

  /// - Precondition: neither the type nor the ID is empty, and the options name an event.
  @available(*, deprecated, message: "Use CKQuerySubscription")
  public init(
    recordType: CKRecord.RecordType, predicate: NSPredicate, subscriptionID: CKSubscription.ID,
    options: CKQuerySubscription.Options
  ) {
    self.init(
      CKQuerySubscription(
        recordType: recordType, predicate: predicate, subscriptionID: subscriptionID,
        options: options))
  }

  /// - Precondition: there are no options: a zone's subscription fires on any change.
  @available(*, deprecated, message: "Use CKRecordZoneSubscription")
  public init(zoneID: CKRecordZone.ID, options: CKQuerySubscription.Options) {
    self.init(zone: zoneID, subscriptionID: UUID().uuidString, options: options)
  }

  /// - Precondition: the ID is not empty, and there are no options: a zone's subscription fires on any change.
  @available(*, deprecated, message: "Use CKRecordZoneSubscription")
  public init(
    zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID,
    options: CKQuerySubscription.Options
  ) {
    self.init(zone: zoneID, subscriptionID: subscriptionID, options: options)
  }

  private init(
    zone: CKRecordZone.ID, subscriptionID: CKSubscription.ID, options: CKQuerySubscription.Options
  ) {
    requireArgument(options.isEmpty, "CKSubscription: a zone's subscription has no options")
    self.init(CKRecordZoneSubscription(zoneID: zone, subscriptionID: subscriptionID))
  }
}

extension CKFirstSubscriptionInterface {
  /// The type of the records that a subscription is about; nil where it is about all types.
  @_disfavoredOverload
  @available(*, deprecated, message: "Use the property of the subscription's class")
  public var recordType: CKRecord.RecordType? {
    switch successor ?? self {
    case let query as CKQuerySubscription: query.recordType
    case let zone as CKRecordZoneSubscription: zone.recordType
    case let database as CKDatabaseSubscription: database.recordType
    default: nil
    }
  }

  /// The predicate of a query subscription; nil for another one.
  @_disfavoredOverload
  @available(*, deprecated, message: "Use CKQuerySubscription's property")
  public var predicate: NSPredicate? {
    ((successor ?? self) as? CKQuerySubscription)?.predicate
  }

  /// The zone that is watched; nil for all zones.
  ///
  /// - Precondition: only a query subscription's is set.
  @_disfavoredOverload
  @available(*, deprecated, message: "Use the property of the subscription's class")
  public var zoneID: CKRecordZone.ID? {
    get {
      switch successor ?? self {
      case let query as CKQuerySubscription: query.zoneID
      case let zone as CKRecordZoneSubscription: zone.zoneID
      default: nil
      }
    }
    set {
      guard let query = (successor ?? self) as? CKQuerySubscription else {
        stopForInvalidArgument("CKSubscription: only a query subscription's zoneID can be set")
      }
      query.zoneID = newValue
    }
  }

  /// What a query subscription fires on; empty for another one.
  @_disfavoredOverload
  @available(*, deprecated, message: "Use CKQuerySubscription.querySubscriptionOptions")
  public var subscriptionOptions: CKQuerySubscription.Options {
    ((successor ?? self) as? CKQuerySubscription)?.querySubscriptionOptions ?? []
  }
}
