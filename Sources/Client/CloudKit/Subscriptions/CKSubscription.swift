/// A standing wish to be told of changes. Make one of the subclasses and save it in a database.
///
/// Code from before iOS 10 makes it of this class (`CKSubscription+FirstInterface.swift`).
open class CKSubscription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  public typealias ID = String
  public typealias NotificationInfo = CKNotificationInfo

  /// The kinds of subscription.
  public enum SubscriptionType: Int, Sendable {
    case query = 1
    case recordZone = 2
    case database = 3
  }

  /// Unique in the database; saving another subscription with the same ID replaces this one.
  public let subscriptionID: ID
  public let subscriptionType: SubscriptionType

  private let info: Locked<NotificationInfo?>
  /// For a subscription of the first interface, the one of a later class that says the same; nil for those
  /// classes themselves.
  let successor: CKSubscription?

  /// What the notifications carry and show; nil means silent pushes. Copied when it is set.
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

  /// The subscription of the first interface that says what its successor says.
  init(_ successor: CKSubscription) {
    subscriptionID = successor.subscriptionID
    subscriptionType = successor.subscriptionType
    info = successor.info
    self.successor = successor
  }

  static func requireID(_ subscriptionID: ID) {
    requireArgument(!subscriptionID.isEmpty, "CKSubscription: subscriptionID must not be empty")
  }

  /// Reads what all kinds have in common. An archive that lacks the ID makes the decoder fail, and a
  /// subscription with a new one.
  init(coder: NSCoder, type: SubscriptionType) {
    let subscriptionID = coder.decodeOptionalString(forKey: "subscriptionID")
    if subscriptionID == nil { coder.failWithError(CocoaError(.coderValueNotFound)) }
    self.subscriptionID = subscriptionID ?? UUID().uuidString
    subscriptionType = type
    info = Locked(coder.decodeOptional(CKNotificationInfo.self, forKey: "notificationInfo"))
    successor = nil
  }

  open class var supportsSecureCoding: Bool { true }

  /// Reads a subscription of the first interface: the archive of any other names one of the subclasses, which
  /// have initializers of their own.
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

  open func copy(with zone: NSZone? = nil) -> Any {
    guard let copy = successor?.copy(with: zone) as? CKSubscription else {
      stopForInvalidArgument("CKSubscription is abstract: its subclasses copy themselves")
    }
    return CKSubscription(copy)
  }

  open override var description: String {
    successor?.description ?? described("")
  }

  /// The class, the ID, and what the subscription fires on.
  func described(_ changes: String) -> String {
    "<\(type(of: self)): \(subscriptionID)\(changes)>"
  }

  /// What a subscription without a query fires on.
  func described(recordType: CKRecord.RecordType?, in place: String) -> String {
    described(", all changes \(recordType.map { "of \($0) " } ?? "")in \(place)")
  }
}
