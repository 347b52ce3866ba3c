import CloudKitModel
import Foundation

/// What a reader of the notification log sees of one notification.
public enum LoggedNotification: Sendable, Hashable {
  case unread(LogEntry)
  /// It was marked as read; its contents are not told any more.
  case read(notificationID: UUID, marked: Timestamp)
}

/// A page of a user's notification log.
public struct NotificationLogPage: Sendable, Hashable {
  public var notifications: [LoggedNotification]
  /// Where the next page begins. Opaque.
  public var token: String
  /// Whether there is more already.
  public var moreComing: Bool

  public init(notifications: [LoggedNotification], token: String, moreComing: Bool) {
    self.notifications = notifications
    self.token = token
    self.moreComing = moreComing
  }
}
