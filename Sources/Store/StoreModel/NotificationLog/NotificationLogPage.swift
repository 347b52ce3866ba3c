import CloudKitModel
import Foundation

/// One notification as a reader of the log sees it.
public enum LoggedNotification: Sendable, Hashable {
  /// A notification that no device of the user has marked as read.
  case unread(LogEntry)
  /// The mark of a notification that was marked as read. The log no longer returns the
  /// notification's contents. `marked` is the time of the marking.
  case read(notificationID: UUID, marked: Timestamp)
}

/// A page of a user's notification log.
public struct NotificationLogPage: Sendable, Hashable {
  /// The notifications and marks, oldest first. A marked notification has the place of its mark.
  public var notifications: [LoggedNotification]
  /// The token for the next page, which only a server of this store can read.
  public var token: String
  /// Whether the log already has entries after this page.
  public var moreComing: Bool

  /// Creates a page. `token` continues after this page.
  public init(notifications: [LoggedNotification], token: String, moreComing: Bool) {
    self.notifications = notifications
    self.token = token
    self.moreComing = moreComing
  }
}
