/// A part of a user's notification log, the list of the user's notifications on the server. It has the token for the
/// next read. An addition of Petrel; see ``CKContainer/petrelNotifications(since:limit:)``.
public struct PetrelNotificationPage: Sendable {
  /// The notifications, oldest first.
  ///
  /// An unread notification is complete. A notification that a device has marked as read has the type
  /// `readNotification` and only its ID.
  public var notifications: [CKNotification]
  /// The token for the next read. Save it.
  public var token: CKServerChangeToken
  /// Whether the log has more entries. If so, read again with the new token.
  public var moreComing: Bool
  /// Whether the caller's token had expired. These notifications are then from the beginning of the log.
  ///
  /// A token expires mainly when the server deletes notifications that the caller has not seen. The page may repeat
  /// other notifications that the caller has seen. Fetch the app's data from the databases.
  public var isRestart: Bool
}
