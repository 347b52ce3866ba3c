/// A request to the server for notifications of changes: the base class of all subscriptions.
///
/// Make an object of a subclass, set ``notificationInfo`` and save the object with
/// ``CKModifySubscriptionsOperation`` or a method of `CKDatabase`. The subscription belongs to the
/// user who saved it. The server keeps it until the user deletes it, or until it has fired if it
/// has the option ``CKQuerySubscription/Options/firesOnce``. The notifications go to all devices of
/// the user, except the device that made the change.
///
/// | class | public | private | shared |
/// | --- | --- | --- | --- |
/// | ``CKQuerySubscription`` | yes | yes | no |
/// | ``CKRecordZoneSubscription`` | no | custom zones | no |
/// | ``CKDatabaseSubscription`` | no | custom zones | yes |
///
/// Code for SDKs before iOS 10 makes objects of this class itself; see
/// ``CKFirstSubscriptionInterface``.
open class CKSubscription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The type of subscription IDs.
  public typealias ID = String
  /// The type of ``notificationInfo``.
  public typealias NotificationInfo = CKNotificationInfo

  /// The kinds of subscription. The raw values are those of Apple's framework.
  public typealias SubscriptionType = CKSubscriptionType

  /// The ID of the subscription, with at most 255 bytes. Each subscription of the user in the
  /// database has another ID: a save replaces the subscription that has the same ID.
  public let subscriptionID: ID
  /// The kind of the subscription, fixed by its class.
  public let subscriptionType: SubscriptionType

  private let info: Locked<NotificationInfo?>
  /// The query or zone subscription that does the work of this object. Only an object of the first
  /// interface (``CKFirstSubscriptionInterface``) has it. Nil for objects of the subclasses.
  let successor: CKSubscription?

  /// The content and appearance of the notifications. With nil, the default, the server sends
  /// silent pushes. The setter stores a copy, so later changes to the original have no effect.
  open var notificationInfo: NotificationInfo? {
    get { info.withLock { $0 } }
    set {
      let copy = newValue?.copy() as? NotificationInfo
      info.withLock { $0 = copy }
    }
  }

  init(subscriptionID: ID, type: SubscriptionType) {
    self.subscriptionID = subscriptionID
    subscriptionType = type
    info = Locked(nil)
    successor = nil
  }

  /// Makes an object of the first interface. `successor` does its work, and both objects have the
  /// same notification info.
  init(_ successor: CKSubscription) {
    subscriptionID = successor.subscriptionID
    subscriptionType = successor.subscriptionType
    info = successor.info
    self.successor = successor
  }

  static func requireID(_ subscriptionID: ID) {
    requireArgument(!subscriptionID.isEmpty, "CKSubscription: subscriptionID must not be empty")
  }

  /// If the archive has no ID, the decoding fails, and the subscription gets a new ID.
  init(coder: NSCoder, type: SubscriptionType) {
    let subscriptionID = coder.decodeOptionalString(forKey: "subscriptionID")
    if subscriptionID == nil { coder.failWithError(CocoaError(.coderValueNotFound)) }
    self.subscriptionID = subscriptionID ?? UUID().uuidString
    subscriptionType = type
    info = Locked(coder.decodeOptional(CKNotificationInfo.self, forKey: "notificationInfo"))
    successor = nil
  }

  open class var supportsSecureCoding: Bool { true }

  /// Decodes a subscription of the first interface.
  ///
  /// The archive of a later subscription names its subclass, which has an initializer of its own.
  public required init(coder: NSCoder) {
    let successor =
      coder.containsValue(forKey: "recordType")
      ? CKQuerySubscription(coder: coder) : CKRecordZoneSubscription(coder: coder)
    subscriptionID = successor.subscriptionID
    subscriptionType = successor.subscriptionType
    info = successor.info
    self.successor = successor
  }

  open func encode(with coder: NSCoder) {
    if let successor { return successor.encode(with: coder) }
    coder.useArchivedClassNames()
    coder.encodeOptional(subscriptionID, forKey: "subscriptionID")
    coder.encode(notificationInfo, forKey: "notificationInfo")
  }

  /// Returns another object with the same properties.
  open func copy(with zone: NSZone? = nil) -> Any {
    guard let copy = successor?.copy(with: zone) as? CKSubscription else {
      stopForInvalidArgument(
        "CKSubscription is abstract and cannot be copied; use one of its subclasses")
    }
    return CKSubscription(copy)
  }

  /// Whether the two are of one class and have the same properties.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKSubscription else { return false }
    if let successor { return successor.isEqual(other.successor) }
    return other.successor == nil && subscriptionID == other.subscriptionID
      && subscriptionType == other.subscriptionType && notificationInfo == other.notificationInfo
  }

  open override var hash: Int { subscriptionID.hashValue }

  open override var description: String {
    successor?.description ?? described("")
  }

  /// Returns the description with the class and the ID. `changes` is the text about the changes on
  /// which the subscription fires.
  func described(_ changes: String) -> String {
    "<\(type(of: self)): \(subscriptionID)\(changes)>"
  }

  /// `place` names the zone or the database.
  func described(recordType: CKRecord.RecordType?, in place: String) -> String {
    described(", all changes \(recordType.map { "of \($0) " } ?? "")in \(place)")
  }
}
