/// That a subscription fired: read from the payload of a push, or from the notification log.
///
/// ```swift
/// let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
/// if let change = notification as? CKQueryNotification { … }
/// ```
///
/// Pushes may be merged, cut short or lost: take one as a hint to fetch what changed.
open class CKNotification: NSObject, CKNotificationConstructible, @unchecked Sendable {
  public typealias ID = CKNotificationID

  /// The kinds of notification, one class each.
  public enum NotificationType: Int, Sendable {
    case query = 1
    case recordZone = 2
    /// One that was marked as read; in the notification log only.
    case readNotification = 3
    case database = 4
  }

  public let notificationType: NotificationType

  let contents: Contents

  init(_ contents: Contents, type: NotificationType) {
    self.contents = contents
    notificationType = type
  }

  /// An entry of the notification log that was marked as read: nothing of it is left but its ID.
  package static func readNotification(
    id: ID, containerIdentifier: String?
  ) -> CKNotification {
    CKNotification(
      Contents(notificationID: id, containerIdentifier: containerIdentifier),
      type: .readNotification)
  }

  open var notificationID: ID? { contents.notificationID }
  open var containerIdentifier: String? { contents.containerIdentifier }
  /// The user who saved the subscription.
  open var subscriptionOwnerUserRecordID: CKRecord.ID? {
    contents.subscriptionOwnerUserRecordID
  }
  /// Whether the server left data out to keep the payload within its limit.
  open var isPruned: Bool { contents.isPruned }
  open var subscriptionID: CKSubscription.ID? { contents.subscriptionID }

  open override var description: String { described("") }

  /// The class, the ID, the subscription, and what happened.
  func described(_ event: String) -> String {
    "<\(type(of: self)): \(notificationID?.identifier ?? "no ID"), subscription "
      + "\(subscriptionID ?? "unknown")\(event)\(isPruned ? ", pruned" : "")>"
  }
}

/// What of a notification the user sees. Deprecated as on Apple's systems, where the
/// system's own classes for notifications hold it; Linux lacks those, so these stay.
extension CKNotification {
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertBody: String? { contents.alert.body }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertLocalizationKey: String? { contents.alert.localizationKey }
  /// The values that the localised text uses.
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertLocalizationArgs: [String]? { contents.alert.localizationArgs }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var title: String? { contents.alert.title }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var titleLocalizationKey: String? { contents.alert.titleLocalizationKey }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var titleLocalizationArgs: [String]? { contents.alert.titleLocalizationArgs }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var subtitle: String? { contents.alert.subtitle }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var subtitleLocalizationKey: String? { contents.alert.subtitleLocalizationKey }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var subtitleLocalizationArgs: [String]? { contents.alert.subtitleLocalizationArgs }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertActionLocalizationKey: String? { contents.alert.actionLocalizationKey }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertLaunchImage: String? { contents.alert.launchImage }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var badge: NSNumber? { contents.alert.badge.map { NSNumber(value: $0) } }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var soundName: String? { contents.alert.soundName }
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var category: String? { contents.alert.category }
}
