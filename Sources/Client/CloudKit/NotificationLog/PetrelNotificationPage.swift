/// A part of a user's notification log, with the token for the next read. An addition of Petrel; see
/// ``CKContainer/petrelNotifications(since:limit:)``.
public struct PetrelNotificationPage: Sendable {
  /// The notifications, oldest first.
  ///
  /// An unread notification is complete. A notification that a device has marked as read has the type
  /// `readNotification` and only its ID.
  public var notifications: [CKNotification]
  /// The token for the next read. Keep it.
  public var token: CKServerChangeToken
  /// Whether the log has more entries: read again with the new token.
  public var moreComing: Bool
  /// Whether the caller's token had expired, so that these notifications are from the beginning of the log.
  ///
  /// The server has then deleted notifications that the caller has not seen, and the page repeats others that the
  /// caller has seen. Fetch the app's data from the databases.
  public var isRestart: Bool
}
