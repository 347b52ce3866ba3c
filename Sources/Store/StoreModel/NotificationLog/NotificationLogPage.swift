import CloudKitModel
import Foundation

/// One notification as a reader of the log sees it.
public enum LoggedNotification: Sendable, Hashable {
  case unread(LogEntry)
  /// The notification was marked as read; its contents are no longer returned.
  case read(notificationID: UUID, marked: Timestamp)
}

/// A page of a user's notification log.
public struct NotificationLogPage: Sendable, Hashable {
  public var notifications: [LoggedNotification]
  /// The position of the next page. Opaque.
  public var token: String
  /// Whether there is already more to read.
  public var moreComing: Bool

  public init(notifications: [LoggedNotification], token: String, moreComing: Bool) {
    self.notifications = notifications
    self.token = token
    self.moreComing = moreComing
  }
}
