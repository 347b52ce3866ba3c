import CloudKitModel
import Foundation

/// The notification log as a user's devices read it: one log for each user and container, with
/// notifications from all databases.
///
/// An entry of the log is a notification. It is in the log from its dispatch until the store
/// deletes it (``NotificationLogLimits``), and is unread at first. When a device marks a
/// notification ID as read, the log gets a mark: a change of its own, which comes after all earlier
/// entries.
///
/// One change of a record can fire several subscriptions of a user, so several entries can have the
/// same ID. For readers of the log, a mark replaces all entries with its ID, and has only the ID.
public protocol NotificationLogStore: Sendable {
  /// Returns a page of the recipient's log: the entries and marks after `token`, oldest first.
  ///
  /// A reader that continues with each page's token sees each entry once, and once more when it is
  /// marked as read. If an entry is marked before the reader reaches it, the reader sees only the
  /// mark.
  ///
  /// - Parameters:
  ///   - token: the token of the previous page; nil begins with the oldest entry or mark.
  ///   - limit: the most entries and marks in the page. A page ends earlier if its contents are
  ///     large.
  /// - Throws: ``StoreError/Code/badContinuation`` if the text is not a token of a log.
  ///   ``StoreError/Code/changeTokenExpired`` in three cases: the store has deleted an entry or a
  ///   mark that the reader has not seen; the token belongs to another user or container; the store
  ///   was reset to an earlier state.
  func notificationLog(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationLogPage

  /// Marks notifications as read. An ID that is already marked stays as it is.
  ///
  /// The method runs one write for each database. If a write fails, earlier ones stay committed,
  /// and the caller can repeat the call.
  ///
  /// - Returns: those of the IDs that the recipient's log has, marked before or not.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  func markNotificationsRead(
    _ notificationIDs: [UUID], of recipient: Recipient, timestamp: Timestamp
  ) async throws -> Set<UUID>
}
