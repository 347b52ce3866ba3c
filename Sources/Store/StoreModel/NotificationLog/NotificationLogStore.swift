import CloudKitModel
import Foundation

/// The notification log as a user's devices read it: one log for each user and container, with
/// notifications from all databases.
///
/// A notification is in the log from its dispatch until it is trimmed, unread at first. Marking a
/// notification ID as read is a change of its own, which comes after all earlier entries.
///
/// One change can fire several of a user's subscriptions, so several entries can have the same ID.
/// A mark replaces all of them by one entry with only the ID.
public protocol NotificationLogStore: Sendable {
  /// Returns the changes of the recipient's log since `token`, oldest first; the whole log if the
  /// token is nil.
  ///
  /// A reader that continues with each page's token sees each entry once, and once more when it is
  /// marked as read. If an entry is marked before the reader reaches it, the reader sees only the
  /// mark.
  ///
  /// - Parameter limit: the most entries; a page ends earlier if its contents are large.
  /// - Throws: ``StoreError/Code/badContinuation`` if the text is not a token of a log.
  ///   ``StoreError/Code/changeTokenExpired`` in three cases: an entry that the reader has not seen
  ///   was trimmed; the token belongs to another user or container; the store was reset to an
  ///   earlier time.
  func notificationLog(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationLogPage

  /// Marks notifications as read and returns the IDs that the recipient's log has. An ID that is
  /// already marked stays as it is and is returned.
  func markNotificationsRead(
    _ notificationIDs: [UUID], of recipient: Recipient, timestamp: Timestamp
  ) async throws -> Set<UUID>
}
