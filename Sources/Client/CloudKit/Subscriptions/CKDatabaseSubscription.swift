/// Fires on any change in a custom zone of its database. For the private and the shared database.
open class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
  private let type: Locked<CKRecord.RecordType?>

  /// When set, only changes of records of this type count.
  open var recordType: CKRecord.RecordType? {
    get { type.withLock { $0 } }
    set { type.withLock { $0 = newValue } }
  }

  /// - Precondition: the ID is not empty.
  public convenience init(subscriptionID: CKSubscription.ID) {
    Self.requireID(subscriptionID)
    self.init(recordType: nil, subscriptionID: subscriptionID)
  }

  init(recordType: CKRecord.RecordType?, subscriptionID: CKSubscription.ID) {
    type = Locked(recordType)
    super.init(subscriptionID: subscriptionID, type: .database)
  }

  @available(*, deprecated, message: "Use init(subscriptionID:)")
  public convenience init() {
    self.init(subscriptionID: UUID().uuidString)
  }

  public required init(coder: NSCoder) {
    type = Locked(coder.decodeOptionalString(forKey: "recordType"))
    super.init(coder: coder, type: .database)
  }

  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encodeOptional(recordType, forKey: "recordType")
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = CKDatabaseSubscription(recordType: recordType, subscriptionID: subscriptionID)
    copy.notificationInfo = notificationInfo
    return copy
  }

  open override var description: String {
    described(recordType: recordType, in: "the database")
  }
}
