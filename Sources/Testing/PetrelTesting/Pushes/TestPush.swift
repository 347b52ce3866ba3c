public import CloudKit

/// A push as a device would have received it from APNs. A name such as `apns-topic` is the header
/// that the property has in the request to APNs.
public struct TestPush: Sendable {
  /// The kind of a push (`apns-push-type`).
  public enum Kind: String, Sendable, Hashable {
    /// The push has an alert, a badge, a sound, a category or mutable content.
    case alert
    /// The push only wakes the app: it has nothing but `content-available`.
    case background
  }

  /// The user's name in the test: the `user` of
  /// ``TestCloud/container(user:device:identifier:registersForPushes:)``.
  public let user: String
  /// The device's name in the test.
  public let device: String
  /// The identifier of the container whose change caused the push.
  public let containerIdentifier: String
  /// The kind of the push.
  public let kind: Kind
  /// `apns-priority`: 10 or 5. APNs delivers a push of priority 10 at once, and a push of priority
  /// 5 when the device's power permits.
  public let priority: Int
  /// `apns-topic`: the container's identifier without the prefix `iCloud.`.
  public let topic: String
  /// `apns-collapse-id`: of several pushes with the same value, the device shows the newest. Nil
  /// for none.
  public let collapseID: String?
  /// `apns-expiration`: APNs does not deliver the push after this time.
  public let expiration: Date
  /// `apns-id`: all attempts to send the push have the same ID.
  public let id: UUID
  /// The JSON that was sent. As for APNs, parts are removed if it has more than 4,096 bytes.
  public let payload: Data

  /// The payload as the app's method `application(_:didReceiveRemoteNotification:)` gets it; empty
  /// if the payload is not JSON.
  public var userInfo: [AnyHashable: Any] {
    CKNotification.userInfo(parsing: payload) ?? [:]
  }

  /// The payload as CloudKit reads it: a `CKQueryNotification`, `CKRecordZoneNotification` or
  /// `CKDatabaseNotification`. Nil if the payload is not a notification of CloudKit.
  public var notification: CKNotification? {
    CKNotification(fromRemoteNotificationDictionary: userInfo)
  }
}
