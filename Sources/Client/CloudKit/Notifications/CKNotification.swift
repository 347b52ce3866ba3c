/// A notification that a subscription fired, from the payload of a push or from the notification
/// log.
///
/// ```swift
/// let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
/// if let change = notification as? CKQueryNotification { … }
/// ```
///
/// A push may be merged with others, shortened or lost. Treat a push as a hint to fetch the
/// changes. Notifications are immutable.
open class CKNotification: NSObject, CKNotificationConstructible, @unchecked Sendable {
  /// The type of the IDs of notifications.
  public typealias ID = CKNotificationID

  /// The kind of a notification. Each kind has its own class.
  public typealias NotificationType = CKNotificationType

  /// The kind of the notification.
  public let notificationType: NotificationType

  let contents: Contents

  init(_ contents: Contents, type: NotificationType) {
    self.contents = contents
    notificationType = type
  }

  /// Creates the notification for an entry of the notification log that was marked as read. Only
  /// its ID and container are known.
  package static func readNotification(
    id: ID, containerIdentifier: String?
  ) -> CKNotification {
    CKNotification(
      Contents(notificationID: id, containerIdentifier: containerIdentifier),
      type: .readNotification)
  }

  /// The ID of the notification, equal in the push and in the notification log; `nil` when the
  /// payload has none.
  ///
  /// If several subscriptions fired on one change, their notifications have the same ID.
  open var notificationID: ID? { contents.notificationID }
  /// The identifier of the container; `nil` when the server left it out to shorten the payload.
  open var containerIdentifier: String? { contents.containerIdentifier }
  /// The ID of the record of the user who saved the subscription; `nil` when the payload has none.
  open var subscriptionOwnerUserRecordID: CKRecord.ID? {
    contents.subscriptionOwnerUserRecordID
  }
  /// Whether the notification lacks data: the server left out values or parts, or cut a string
  /// after 100 characters. One reason is the limit of 4,096 bytes for a payload. Fetch the record
  /// or the changes to get the data.
  open var isPruned: Bool { contents.isPruned }
  /// The ID of the subscription that fired; `nil` for a `readNotification`, and when the payload
  /// does not have the ID.
  open var subscriptionID: CKSubscription.ID? { contents.subscriptionID }

  open override var description: String { described("") }

  /// Returns the description with class, ID and subscription. `event` is inserted before the mark
  /// `pruned`.
  func described(_ event: String) -> String {
    "<\(type(of: self)): \(notificationID?.identifier ?? "no ID"), subscription "
      + "\(subscriptionID ?? "unknown")\(event)\(isPruned ? ", pruned" : "")>"
  }
}

/// The parts of a notification that the user sees.
///
/// Apple's systems show these parts through their own classes, so Apple has deprecated these
/// properties. Linux has no such classes, so apps on Linux read the parts here. `nil` means that
/// the subscription did not set the part, or that the server left it out to shorten the payload.
extension CKNotification {
  /// The text of the alert (`aps.alert.body`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertBody: String? { contents.alert.body }
  /// The key of the alert's text in the app's strings (`loc-key`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertLocalizationKey: String? { contents.alert.localizationKey }
  /// The values for the placeholders of the localised text (`loc-args`), taken from fields of the
  /// record.
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertLocalizationArgs: [String]? { contents.alert.localizationArgs }
  /// The title of the alert (`title`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var title: String? { contents.alert.title }
  /// The key of the title in the app's strings (`title-loc-key`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var titleLocalizationKey: String? { contents.alert.titleLocalizationKey }
  /// The values for the placeholders of the localised title (`title-loc-args`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var titleLocalizationArgs: [String]? { contents.alert.titleLocalizationArgs }
  /// The subtitle of the alert (`subtitle`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var subtitle: String? { contents.alert.subtitle }
  /// The key of the subtitle in the app's strings (`subtitle-loc-key`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var subtitleLocalizationKey: String? { contents.alert.subtitleLocalizationKey }
  /// The values for the placeholders of the localised subtitle (`subtitle-loc-args`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var subtitleLocalizationArgs: [String]? { contents.alert.subtitleLocalizationArgs }
  /// The key of the action button's label in the app's strings (`action-loc-key`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertActionLocalizationKey: String? { contents.alert.actionLocalizationKey }
  /// The name of the image file that the app shows while it starts (`launch-image`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var alertLaunchImage: String? { contents.alert.launchImage }
  /// The number to show on the app's icon (`aps.badge`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var badge: NSNumber? { contents.alert.badge.map { NSNumber(value: $0) } }
  /// The name of the sound file to play (`aps.sound`); `default` means the system's sound.
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var soundName: String? { contents.alert.soundName }
  /// The name of the group of actions that the alert offers (`aps.category`).
  @available(*, deprecated, message: "Read it from the notification that the system shows")
  public var category: String? { contents.alert.category }
}
