import CloudKitModel
import Foundation

/// Notifications for tests, all about record `ART-1` in container `iCloud.com.example.app`.
enum NotificationFixture {
  static let user = "_0123456789abcdef0123456789abcdef"
  static let notificationID = UUID(uuidString: "0B6C2F0E-51D4-4B61-9C1E-3D1F2A5B7C90")!

  static func info(_ change: (inout NotificationInfo) -> Void) -> NotificationInfo {
    var info = NotificationInfo()
    change(&info)
    return info
  }

  static func query(
    _ info: NotificationInfo?, fields: RecordFields<RecordValue> = [:],
    event: ChangeEvent = .recordCreated, scope: DatabaseScope = .public,
    zoneID: ZoneID = .default, subscriptionID: String = "new-art",
    environment: ContainerEnvironment = .development
  ) -> SubscriptionNotification {
    notification(
      kind: .query(
        Query(recordType: "Art"), zoneID: nil, options: [.firesOnRecordCreation]),
      info, event: event, scope: scope, zoneID: zoneID, subscriptionID: subscriptionID,
      environment: environment,
      record: Record(
        recordID: RecordID(recordName: "ART-1", zoneID: zoneID), recordType: "Art",
        fields: fields))
  }

  static func notification(
    kind: Subscription.Kind, _ info: NotificationInfo?, event: ChangeEvent,
    scope: DatabaseScope, zoneID: ZoneID, subscriptionID: String,
    environment: ContainerEnvironment = .development, record: Record? = nil
  ) -> SubscriptionNotification {
    SubscriptionNotification(
      database: DatabaseAddress(
        container: "iCloud.com.example.app", environment: environment, scope: scope,
        owner: scope == .public ? nil : user),
      subscriber: user,
      subscription: Subscription(
        subscriptionID: subscriptionID, kind: kind, notificationInfo: info),
      change: Change(
        event: event, zoneID: zoneID, record: record, notificationID: notificationID,
        timestamp: Timestamp(milliseconds: 1_767_225_600_000)))
  }
}
