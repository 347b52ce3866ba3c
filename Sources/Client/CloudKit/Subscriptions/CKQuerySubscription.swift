internal import CloudKitModel

/// A subscription to the creation, update and deletion of records that satisfy a predicate.
///
/// The subscription works in the public and the private database. If a program saves it in the
/// shared database, the save fails with `invalidArguments`. On a creation or an update, the server
/// compares the predicate with the new values, and on a deletion with the last values. An update
/// after which the record no longer matches does not fire.
///
/// The predicate follows the rules of ``CKQuery``. It cannot use `now()`, whose value would change
/// with time. If the predicate breaks a rule, the save fails with `invalidArguments`.
///
/// ```swift
/// let subscription = CKQuerySubscription(
///   recordType: "Note", predicate: NSPredicate(format: "priority > %d", 3),
///   subscriptionID: "urgent-notes", options: [.firesOnRecordCreation, .firesOnRecordUpdate])
/// ```
open class CKQuerySubscription: CKSubscription, @unchecked Sendable {
  /// The events on which a query subscription fires, and whether it fires only once.
  public struct Options: OptionSet, Sendable, BitwiseCopyable {
    /// The options as bits: 1 creation, 2 update, 4 deletion, 8 once.
    public let rawValue: UInt
    /// Makes a set of options from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The subscription fires when a record that matches is created.
    public static let firesOnRecordCreation = Options(rawValue: 1)
    /// The subscription fires when a record is updated and matches with its new values.
    public static let firesOnRecordUpdate = Options(rawValue: 2)
    /// The subscription fires when a record that matched is deleted.
    public static let firesOnRecordDeletion = Options(rawValue: 4)
    /// The server deletes the subscription when it fires for the first time. This option needs at
    /// least one of the three options for events.
    public static let firesOnce = Options(rawValue: 8)

    fileprivate static let events: Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
  }

  /// The type of the records, never nil. The property is optional as in Apple's module.
  public let recordType: CKRecord.RecordType?
  /// The condition on the record's values.
  ///
  /// The predicate of a fetched subscription has the form of the server's filters, such as
  /// `n >= 1 AND n <= 3` for `n BETWEEN {1, 3}`.
  public let predicate: NSPredicate
  /// The events on which the subscription fires, and whether it fires only once.
  public let querySubscriptionOptions: Options

  private let zone: Locked<CKRecordZone.ID?>

  /// The zone of the records. Nil, the default, means all of the user's zones in the database.
  open var zoneID: CKRecordZone.ID? {
    get { zone.withLock { $0 } }
    set { zone.withLock { $0 = newValue } }
  }

  /// Makes a subscription to the records of a type.
  ///
  /// - Parameters:
  ///   - recordType: The type of the records.
  ///   - predicate: The condition; `NSPredicate(value: true)` matches all records of the type.
  ///   - subscriptionID: The ID of the subscription, unique among the user's subscriptions in the
  ///     database.
  ///   - querySubscriptionOptions: The events, and whether the subscription fires only once. The
  ///     default is all three events.
  /// - Precondition: Neither the type nor the ID is empty, and the options name an event. Otherwise
  ///   the program stops.
  public init(
    recordType: CKRecord.RecordType, predicate: NSPredicate, subscriptionID: CKSubscription.ID,
    options querySubscriptionOptions: Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
  ) {
    Self.requireID(subscriptionID)
    requireArgument(!recordType.isEmpty, "CKQuerySubscription: recordType must not be empty")
    requireArgument(
      !querySubscriptionOptions.isDisjoint(with: .events),
      "CKQuerySubscription: options must have at least one of creation, update and deletion")
    self.recordType = recordType
    self.predicate = predicate
    self.querySubscriptionOptions = querySubscriptionOptions
    zone = Locked(nil)
    super.init(subscriptionID: subscriptionID, type: .query)
  }

  init(_ query: Query, zoneID: ZoneID?, options: Subscription.Options, subscriptionID: String) {
    recordType = query.recordType
    predicate = .predicate(for: query.filters)
    querySubscriptionOptions = Options(rawValue: options.rawValue)
    zone = Locked(zoneID.map { CKRecordZone.ID($0) })
    super.init(subscriptionID: subscriptionID, type: .query)
  }

  private init(copyOf other: CKQuerySubscription) {
    recordType = other.recordType
    predicate = other.predicate
    querySubscriptionOptions = other.querySubscriptionOptions
    zone = Locked(other.zoneID)
    super.init(subscriptionID: other.subscriptionID, type: .query)
    notificationInfo = other.notificationInfo
  }

  /// Makes a subscription with a UUID as its ID.
  @available(*, deprecated, message: "Use init(recordType:predicate:subscriptionID:options:)")
  public convenience init(
    recordType: CKRecord.RecordType, predicate: NSPredicate,
    options querySubscriptionOptions: Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
  ) {
    self.init(
      recordType: recordType, predicate: predicate, subscriptionID: UUID().uuidString,
      options: querySubscriptionOptions)
  }

  /// Makes a subscription from an archive. If the archive has no record type or no predicate, the
  /// decoding fails, and the subscription matches no record.
  public required init(coder: NSCoder) {
    let recordType = coder.decodeOptionalString(forKey: "recordType")
    let predicate = coder.decodePredicate(forKey: "predicate")
    if recordType == nil || predicate == nil {
      coder.failWithError(CocoaError(.coderValueNotFound))
    }
    self.recordType = recordType ?? ""
    self.predicate = predicate ?? NSPredicate(value: false)
    querySubscriptionOptions = Options(
      rawValue: UInt(clamping: coder.decodeInteger(forKey: "options")))
    zone = Locked(coder.decodeOptional(CKRecordZoneID.self, forKey: "zoneID"))
    super.init(coder: coder, type: .query)
  }

  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encodeOptional(recordType, forKey: "recordType")
    coder.encodePredicate(predicate, forKey: "predicate")
    coder.encode(Int(clamping: querySubscriptionOptions.rawValue), forKey: "options")
    coder.encode(zoneID, forKey: "zoneID")
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    CKQuerySubscription(copyOf: self)
  }

  /// Whether the two have the same properties. Predicates are the same if a server evaluates them in
  /// the same way: the server returns another form of some predicates.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKQuerySubscription, super.isEqual(other) else { return false }
    return recordType == other.recordType && zoneID == other.zoneID
      && querySubscriptionOptions == other.querySubscriptionOptions
      && predicate.isEquivalent(to: other.predicate)
  }

  open override var description: String {
    let events = [
      (Options.firesOnRecordCreation, "creation"), (.firesOnRecordUpdate, "update"),
      (.firesOnRecordDeletion, "deletion"), (.firesOnce, "once"),
    ].filter { querySubscriptionOptions.contains($0.0) }.map(\.1)
    return described(
      ", \(events.joined(separator: ", ")) of \(recordType ?? "") where \(predicate.canonicalFormat)"
        + (zoneID.map { " in zone \($0.zoneName):\($0.ownerName)" } ?? ""))
  }
}
