import Foundation

/// A notification that was not logged, because the subscriber may not read the changed record.
public struct WithheldNotification: Sendable, Hashable {
  /// The database of the change.
  public var database: DatabaseID
  /// The subscriber's user record name.
  public var subscriber: String
  /// The ID of the subscription that fired.
  public var subscriptionID: String
  /// The notification ID, which all notifications of the change share.
  public var notificationID: UUID
  /// The reason, for a person to read. It names the record, the record's type and the missing
  /// right.
  public var reason: String

  /// Creates a report of one notification.
  public init(
    database: DatabaseID, subscriber: String, subscriptionID: String, notificationID: UUID,
    reason: String
  ) {
    self.database = database
    self.subscriber = subscriber
    self.subscriptionID = subscriptionID
    self.notificationID = notificationID
    self.reason = reason
  }
}
