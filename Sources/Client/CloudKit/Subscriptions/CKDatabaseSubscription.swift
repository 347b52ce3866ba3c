/// A subscription to all changes in the custom zones of a database.
///
/// The subscription works in the private and the shared database. If a program saves it in the
/// public database, the save fails with `invalidArguments`. The default zone has no feed of
/// changes, so the subscription does not fire on changes there. A program usually fetches the
/// database's changes when it gets a notification.
///
/// ```swift
/// let subscription = CKDatabaseSubscription(subscriptionID: "all-changes")
/// let info = CKSubscription.NotificationInfo()
/// info.shouldSendContentAvailable = true
/// subscription.notificationInfo = info
/// ```
open class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
  private let type: Locked<CKRecord.RecordType?>

  /// The type of the records on whose changes the subscription fires. Nil, the default, means all
  /// types.
  open var recordType: CKRecord.RecordType? {
    get { type.withLock { $0 } }
    set { type.withLock { $0 = newValue } }
  }

  /// Makes a subscription with an ID.
  ///
  /// - Precondition: The ID is not empty.
  public convenience init(subscriptionID: CKSubscription.ID) {
    Self.requireID(subscriptionID)
    self.init(recordType: nil, subscriptionID: subscriptionID)
  }

  init(recordType: CKRecord.RecordType?, subscriptionID: CKSubscription.ID) {
    type = Locked(recordType)
    super.init(subscriptionID: subscriptionID, type: .database)
  }

  /// Makes a subscription with a UUID as its ID.
  @available(*, deprecated, message: "Use init(subscriptionID:)")
  public convenience init() {
    self.init(subscriptionID: UUID().uuidString)
  }

  /// Makes a subscription from an archive.
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

  /// Whether the two have the same properties.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKDatabaseSubscription, super.isEqual(other) else { return false }
    return recordType == other.recordType
  }

  open override var description: String {
    described(recordType: recordType, in: "the database")
  }
}
