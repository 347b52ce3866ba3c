import CloudKitModel
import Foundation

/// One notification as a reader of the log sees it.
public enum LoggedNotification: Sendable, Hashable {
  /// A notification that no device of the user has marked as read.
  case unread(LogEntry)
  /// The notification was marked as read; its contents are no longer returned.
  case read(notificationID: UUID, marked: Timestamp)
}

/// A page of a user's notification log.
public struct NotificationLogPage: Sendable, Hashable {
  /// The notifications and marks, oldest first.
  public var notifications: [LoggedNotification]
  /// The position of the next page, as an opaque text.
  public var token: String
  /// Whether the log already has entries after this page.
  public var moreComing: Bool

  /// Creates a page that ends at the position of `token`.
  public init(notifications: [LoggedNotification], token: String, moreComing: Bool) {
    self.notifications = notifications
    self.token = token
    self.moreComing = moreComing
  }
}
