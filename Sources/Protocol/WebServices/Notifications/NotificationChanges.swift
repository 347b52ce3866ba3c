import CloudKitModel

/// The body of `notifications/changes`: what changed in the caller's notification log. Petrel's own;
/// Apple's native client asks over its own protocol.
public struct NotificationChangesRequest: Sendable, Hashable {
  /// The token of an earlier answer; nil for the beginning.
  public var syncToken: String?
  /// Entries in the answer at most; 0 leaves it to the server.
  public var resultsLimit: Int

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
  public var notifications: [NotificationLogItem]
  /// Where the next request goes on.
  public var syncToken: String
  /// Whether there is more already.
  public var moreComing: Bool

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
    try coder.required("syncToken", &syncToken, "Send it to go on from here.")
    try coder.written("moreComing", &moreComing)
  }
}
