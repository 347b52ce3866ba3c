/// A subscription to all changes in one custom zone of the private database.
///
/// If a program saves the subscription in another database, or for the default zone, the save fails
/// with `invalidArguments`: the default zone has no feed of changes. A program usually fetches the
/// zone's changes when it gets a notification.
///
/// ```swift
/// let zoneID = CKRecordZone.ID(zoneName: "Notes")
/// let subscription = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "notes")
/// subscription.recordType = "Note"
/// ```
open class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
  /// The ID of the zone.
  public let zoneID: CKRecordZone.ID

  private let type: Locked<CKRecord.RecordType?>

  /// The type of the records on whose changes the subscription fires. Nil, the default, means all
  /// types.
  open var recordType: CKRecord.RecordType? {
    get { type.withLock { $0 } }
    set { type.withLock { $0 = newValue } }
  }

  /// Makes a subscription to a zone.
  ///
  /// - Precondition: `subscriptionID` is not empty.
  public convenience init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
    Self.requireID(subscriptionID)
    self.init(zoneID: zoneID, recordType: nil, subscriptionID: subscriptionID)
  }

  init(
    zoneID: CKRecordZone.ID, recordType: CKRecord.RecordType?, subscriptionID: CKSubscription.ID
  ) {
    self.zoneID = zoneID
    type = Locked(recordType)
    super.init(subscriptionID: subscriptionID, type: .recordZone)
  }

  /// Makes a subscription to a zone, with a UUID as its ID.
  @available(*, deprecated, message: "Use init(zoneID:subscriptionID:)")
  public convenience init(zoneID: CKRecordZone.ID) {
    self.init(zoneID: zoneID, subscriptionID: UUID().uuidString)
  }

  /// Makes a subscription from an archive. If the archive has no zone, the decoding fails, and the
  /// subscription has the default zone.
  public required init(coder: NSCoder) {
    let zoneID = coder.decodeOptional(CKRecordZoneID.self, forKey: "zoneID")
    if zoneID == nil { coder.failWithError(CocoaError(.coderValueNotFound)) }
    self.zoneID = zoneID ?? .default
    type = Locked(coder.decodeOptionalString(forKey: "recordType"))
    super.init(coder: coder, type: .recordZone)
  }

  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(zoneID, forKey: "zoneID")
    coder.encodeOptional(recordType, forKey: "recordType")
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = CKRecordZoneSubscription(
      zoneID: zoneID, recordType: recordType, subscriptionID: subscriptionID)
    copy.notificationInfo = notificationInfo
    return copy
  }

  /// Whether the two have the same properties.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKRecordZoneSubscription, super.isEqual(other) else {
      return false
    }
    return zoneID == other.zoneID && recordType == other.recordType
  }

  open override var description: String {
    described(recordType: recordType, in: "zone \(zoneID.zoneName):\(zoneID.ownerName)")
  }
}
