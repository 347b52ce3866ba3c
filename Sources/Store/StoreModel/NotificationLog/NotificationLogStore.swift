import CloudKitModel
import Foundation

/// The notification log as a user's devices read it: one for each user and container, whatever
/// databases the notifications come from.
///
/// Every notification is in it from its dispatch until it is trimmed, unread at first. Marking a
/// notification ID as read is a change of its own: it comes behind all that was logged before.
///
/// One change can fire several of a user's subscriptions: that many entries bear the same ID. A
/// mark takes them all, and in their place there is one entry with nothing but the ID.
public protocol NotificationLogStore: Sendable {
  /// What changed in the recipient's log since `token`, oldest first; everything when it is nil.
  ///
  /// A reader that goes on with each page's token sees each entry once, and again once when it is
  /// marked as read; an entry that is marked before the reader comes to it is seen as read only.
  ///
  /// - Parameter limit: Entries at most; a page ends earlier when its contents are large.
  /// - Throws: ``StoreError/Code/changeTokenExpired`` when something that the reader has not seen
  ///   was trimmed, when the token is of another user or container, or when the store was reset
  ///   to a time before it; ``StoreError/Code/badContinuation`` when it is no token of a log.
  func notificationLog(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationLogPage

  /// Marks notifications as read, and returns the IDs that the recipient's log has. One that is
  /// marked already stays as it is and is among them.
  func markNotificationsRead(
    _ notificationIDs: [UUID], of recipient: Recipient, timestamp: Timestamp
  ) async throws -> Set<UUID>
}
