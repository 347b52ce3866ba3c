import Foundation

/// A notification that a subscription would have brought, and that its subscriber did not get.
public struct WithheldNotification: Sendable, Hashable {
  public var database: DatabaseID
  public var subscriber: String
  public var subscriptionID: String
  /// Names the change.
  public var notificationID: UUID
  /// For people.
  public var reason: String

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
