import CloudKitModel

/// The body of `notifications/changes`: it asks for entries of the caller's notification log. The
/// operation is Petrel's addition; Apple's native client uses another protocol.
///
/// ```
/// { "syncToken": "…", "resultsLimit": 50 }
/// ```
public struct NotificationChangesRequest: Sendable, Hashable {
  /// The token of an earlier answer; nil starts at the beginning of the log.
  public var syncToken: String?
  /// The largest number of entries in the answer. 0 means `ServiceLimits.recordsPerPage`.
  public var resultsLimit: Int

  /// Creates a request.
  public init(syncToken: String? = nil, resultsLimit: Int = 0) {
    self.syncToken = syncToken
    self.resultsLimit = resultsLimit
  }
}

extension NotificationChangesRequest: Message, MessageObject {
  package static let blank = NotificationChangesRequest()

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.syncToken(&syncToken)
    try coder.resultsLimit(&resultsLimit)
  }
}

/// The answer of `notifications/changes`.
public struct NotificationChangesResponse: Sendable, Hashable {
  /// The entries, the oldest first. The answer ends after about
  /// `ServiceLimits.notificationsPageSize` bytes of entries.
  public var notifications: [NotificationLogItem]
  /// The token with which the next request continues after these entries.
  public var syncToken: String
  /// Whether the log already has more entries.
  public var moreComing: Bool

  /// Creates an answer.
  public init(notifications: [NotificationLogItem], syncToken: String, moreComing: Bool) {
    self.notifications = notifications
    self.syncToken = syncToken
    self.moreComing = moreComing
  }
}

extension NotificationChangesResponse: Message, MessageObject {
  package static let blank = NotificationChangesResponse(
    notifications: [], syncToken: "", moreComing: false)

  package var approximateSize: Int { 512 * (notifications.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required(
      "notifications", &notifications, "Oldest first. An answer ends after 1 MiB of entries.")
    try coder.required("syncToken", &syncToken, "Send it to get the next notifications.")
    try coder.written("moreComing", &moreComing)
  }
}
