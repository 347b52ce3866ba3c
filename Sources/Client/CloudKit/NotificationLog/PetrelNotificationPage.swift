/// Notifications of a user's notification log, with the token that stands for them. Petrel's own; see
/// ``CKContainer/petrelNotifications(since:limit:)``.
public struct PetrelNotificationPage: Sendable {
  /// Oldest first. One that is not read comes whole. One that some device has marked as read has the type
  /// `readNotification` and nothing but its ID.
  public var notifications: [CKNotification]
  /// Where the next reading goes on. Keep it.
  public var token: CKServerChangeToken
  /// Whether the log has more already.
  public var moreComing: Bool
  /// Whether the caller's token had expired and these notifications begin the log anew.
  ///
  /// The server has then deleted notifications that the caller has not seen, and tells of others that the caller has seen
  /// once more. Fetch what the app shows from the databases.
  public var isRestart: Bool
}
