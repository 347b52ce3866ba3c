import Foundation

/// A notification that a subscription fired and that its subscriber may not get.
public struct WithheldNotification: Sendable, Hashable {
  public var database: DatabaseID
  public var subscriber: String
  public var subscriptionID: String
  /// Identifies the change.
  public var notificationID: UUID
  /// The reason, for people.
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
