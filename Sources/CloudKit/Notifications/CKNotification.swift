/// That a subscription fired: read from the payload of a push, or from the notification log.
///
/// ```swift
/// let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
/// if let change = notification as? CKQueryNotification { … }
/// ```
///
/// Pushes may be merged, cut short or lost: take one as a hint to fetch what changed.
public class CKNotification: NSObject, CKNotificationConstructible, @unchecked Sendable {
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

  private let contents: Contents

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

  public var notificationID: ID? { contents.notificationID }
  public var containerIdentifier: String? { contents.containerIdentifier }
  /// The user who saved the subscription.
  public var subscriptionOwnerUserRecordID: CKRecord.ID? {
    contents.subscriptionOwnerUserRecordID
  }
  /// Whether the server left data out to keep the payload within its limit.
  public var isPruned: Bool { contents.isPruned }
  public var subscriptionID: CKSubscription.ID? { contents.subscriptionID }

  public override var description: String {
    "<\(type(of: self)): \(notificationID?.identifier ?? "no ID"), subscription "
      + "\(subscriptionID ?? "unknown")>"
  }
}

/// What of a notification the user sees. Apple has these deprecated in favour of the system's own
/// classes for notifications, which Linux lacks.
extension CKNotification {
  public var alertBody: String? { contents.alert.body }
  public var alertLocalizationKey: String? { contents.alert.localizationKey }
  /// The values that the localised text uses.
  public var alertLocalizationArgs: [String]? { contents.alert.localizationArgs }
  public var title: String? { contents.alert.title }
  public var titleLocalizationKey: String? { contents.alert.titleLocalizationKey }
  public var titleLocalizationArgs: [String]? { contents.alert.titleLocalizationArgs }
  public var subtitle: String? { contents.alert.subtitle }
  public var subtitleLocalizationKey: String? { contents.alert.subtitleLocalizationKey }
  public var subtitleLocalizationArgs: [String]? { contents.alert.subtitleLocalizationArgs }
  public var alertActionLocalizationKey: String? { contents.alert.actionLocalizationKey }
  public var alertLaunchImage: String? { contents.alert.launchImage }
  public var badge: NSNumber? { contents.alert.badge.map { NSNumber(value: $0) } }
  public var soundName: String? { contents.alert.soundName }
  public var category: String? { contents.alert.category }
}
