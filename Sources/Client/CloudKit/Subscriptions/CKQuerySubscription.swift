internal import CloudKitModel

/// Fires when a record that its predicate holds for is created, updated or deleted.
///
/// For the public and the private database. Creations and updates are matched on the new values,
/// deletions on the last ones. The predicate has the rules of `CKQuery`, and must not use `now()`; a
/// breach is reported when the subscription is saved.
open class CKQuerySubscription: CKSubscription, @unchecked Sendable {
  /// The events to fire on, and whether to fire only once.
  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let firesOnRecordCreation = Options(rawValue: 1)
    public static let firesOnRecordUpdate = Options(rawValue: 2)
    public static let firesOnRecordDeletion = Options(rawValue: 4)
    /// The server deletes the subscription when it fires.
    public static let firesOnce = Options(rawValue: 8)

    fileprivate static let events: Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
  }

  /// Never nil; optional as in Apple's module.
  public let recordType: CKRecord.RecordType?
  public let predicate: NSPredicate
  public let querySubscriptionOptions: Options

  private let zone: Locked<CKRecordZone.ID?>

  /// The zone to watch; nil means all the user's zones in the database.
  open var zoneID: CKRecordZone.ID? {
    get { zone.withLock { $0 } }
    set { zone.withLock { $0 = newValue } }
  }

  /// - Precondition: neither the type nor the ID is empty, and the options name an event.
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
      "CKQuerySubscription: options must name at least one of creation, update and deletion")
    self.recordType = recordType
    self.predicate = predicate
    self.querySubscriptionOptions = querySubscriptionOptions
    zone = Locked(nil)
    super.init(subscriptionID: subscriptionID, type: .query)
  }

  /// The subscription that the server returned.
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
