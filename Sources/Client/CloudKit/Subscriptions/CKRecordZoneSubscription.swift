/// Fires on any change in a zone. For custom zones of the private database.
open class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
  public let zoneID: CKRecordZone.ID

  private let type: Locked<CKRecord.RecordType?>

  /// When set, only changes of records of this type count.
  open var recordType: CKRecord.RecordType? {
    get { type.withLock { $0 } }
    set { type.withLock { $0 = newValue } }
  }

  /// - Precondition: the ID is not empty.
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

  @available(*, deprecated, message: "Use init(zoneID:subscriptionID:)")
  public convenience init(zoneID: CKRecordZone.ID) {
    self.init(zoneID: zoneID, subscriptionID: UUID().uuidString)
  }

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

  open override var description: String {
    described(recordType: recordType, in: "zone \(zoneID.zoneName):\(zoneID.ownerName)")
  }
}
