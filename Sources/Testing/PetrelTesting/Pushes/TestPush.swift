public import CloudKit

/// A push as a device would have received it from APNs.
public struct TestPush: Sendable {
  /// What kind of push it is (`apns-push-type`).
  public enum Kind: String, Sendable, Hashable {
    /// Has an alert, a badge, a sound, a category or mutable content.
    case alert
    /// Only wakes the app (`shouldSendContentAvailable`).
    case background
  }

  /// The name that the user was given with ``TestCloud/container(user:device:identifier:registersForPushes:)``.
  public let user: String
  /// The name that the device was given there.
  public let device: String
  public let containerIdentifier: String
  public let kind: Kind
  /// `apns-priority`: 10 is delivered at once, 5 when it suits the device.
  public let priority: Int
  /// `apns-topic`: the container's identifier without `iCloud.`.
  public let topic: String
  /// `apns-collapse-id`: of several with the same value the device shows the newest.
  public let collapseID: String?
  /// `apns-expiration`: after this moment APNs does not deliver the push any more.
  public let expiration: Date
  /// `apns-id`: the same however often the push was sent.
  public let id: UUID
  /// The JSON that was sent, pruned to 4096 bytes as for APNs.
  public let payload: Data

  /// The payload as `application(_:didReceiveRemoteNotification:)` gets it.
  public var userInfo: [AnyHashable: Any] {
    CKNotification.userInfo(parsing: payload) ?? [:]
  }

  /// The payload as CloudKit reads it: a `CKQueryNotification`, `CKRecordZoneNotification` or
  /// `CKDatabaseNotification`.
  public var notification: CKNotification? {
    CKNotification(fromRemoteNotificationDictionary: userInfo)
  }
}
