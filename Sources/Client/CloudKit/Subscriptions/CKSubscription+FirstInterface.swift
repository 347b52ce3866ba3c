// The first interface: the interface of subscriptions in the SDKs of iOS 8 and 9. It has one class
// for query subscriptions and zone subscriptions. The server stores such a subscription like those
// of the later classes, and a fetch returns objects of the later classes.

/// The interface that `CKSubscription` had before iOS 10.
///
/// The interface is a protocol, because each member of a class is also a member of its subclasses.
/// There the members would conflict with properties that have other types. They are disfavoured
/// overloads, so the compiler prefers the property of a subclass.
public protocol CKFirstSubscriptionInterface: CKSubscription {}

extension CKSubscription: CKFirstSubscriptionInterface {}

extension CKFirstSubscriptionInterface where Self == CKSubscription {
  /// Makes a query subscription with a UUID as its ID.
  ///
  /// - Precondition: The type is not empty, and the options name an event.
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

  /// Makes a query subscription.
  ///
  /// - Precondition: Neither the type nor the ID is empty, and the options name an event.
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

  /// Makes a zone subscription with a UUID as its ID.
  ///
  /// - Precondition: `options` is empty: a zone subscription fires on any change.
  @available(*, deprecated, message: "Use CKRecordZoneSubscription")
  public init(zoneID: CKRecordZone.ID, options: CKQuerySubscription.Options) {
    self.init(zone: zoneID, subscriptionID: UUID().uuidString, options: options)
  }

  /// Makes a zone subscription.
  ///
  /// - Precondition: The ID is not empty. `options` is empty: a zone subscription fires on any
  ///   change.
  @available(*, deprecated, message: "Use CKRecordZoneSubscription")
  public init(
    zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID,
    options: CKQuerySubscription.Options
  ) {
    self.init(zone: zoneID, subscriptionID: subscriptionID, options: options)
  }

  /// Makes a zone subscription. Stops the program if there are options.
  private init(
    zone: CKRecordZone.ID, subscriptionID: CKSubscription.ID, options: CKQuerySubscription.Options
  ) {
    requireArgument(options.isEmpty, "CKSubscription: a zone's subscription has no options")
    self.init(CKRecordZoneSubscription(zoneID: zone, subscriptionID: subscriptionID))
  }
}

extension CKFirstSubscriptionInterface {
  /// The type of the records on whose changes the subscription fires; nil for all types.
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

  /// The predicate of a query subscription; nil for other subscriptions.
  @_disfavoredOverload
  @available(*, deprecated, message: "Use CKQuerySubscription's property")
  public var predicate: NSPredicate? {
    ((successor ?? self) as? CKQuerySubscription)?.predicate
  }

  /// The zone on whose changes the subscription fires; nil for all zones.
  ///
  /// - Precondition: The program sets this property on query subscriptions only. Otherwise the
  ///   program stops.
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

  /// The options of a query subscription; empty for other subscriptions.
  @_disfavoredOverload
  @available(*, deprecated, message: "Use CKQuerySubscription.querySubscriptionOptions")
  public var subscriptionOptions: CKQuerySubscription.Options {
    ((successor ?? self) as? CKQuerySubscription)?.querySubscriptionOptions ?? []
  }
}
