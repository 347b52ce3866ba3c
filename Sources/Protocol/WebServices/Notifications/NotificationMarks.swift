import CloudKitModel
import JSONCoding

/// The body of `notifications/markRead`, Petrel's addition: it marks entries of the caller's
/// notification log as read.
///
/// ```
/// { "notifications": [ { "notificationID": "…" } ] }
/// ```
public struct MarkNotificationsReadRequest: Sendable, Hashable {
  /// The identifiers of the notifications, the `nid` of their payloads.
  public var notificationIDs: [String]

  /// Creates a request.
  public init(notificationIDs: [String]) {
    self.notificationIDs = notificationIDs
  }
}

extension MarkNotificationsReadRequest: Message, MessageObject {
  package static let blank = MarkNotificationsReadRequest(notificationIDs: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var items = notificationIDs.map { NotificationName(notificationID: $0) }
    try coder.list("notifications", &items, count: 0...ServiceLimits.operationsPerRequest)
    notificationIDs = items.map(\.notificationID)
  }
}

/// A notification in a request, by its identifier.
private struct NotificationName: MessageObject {
  var notificationID: String

  static let blank = NotificationName(notificationID: "")

  mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("notificationID", &notificationID, "The `nid` of a payload.")
  }
}

/// The answer of `notifications/markRead`: one item for each identifier, in the order of the
/// request.
///
/// ```
/// { "notifications": [ { "notificationID": "…", "read": true } ] }
/// ```
public struct MarkNotificationsReadResponse: Sendable, Hashable {
  /// A notification that is marked as read.
  public struct Item: Sendable, Hashable {
    /// The identifier of the notification.
    public var notificationID: String

    /// Creates an item.
    public init(notificationID: String) {
      self.notificationID = notificationID
    }
  }

  /// The marked notifications, and the errors of the others.
  public var notifications: [Result<Item, FailedItem>]

  /// Creates an answer.
  public init(notifications: [Result<Item, FailedItem>]) {
    self.notifications = notifications
  }
}

extension MarkNotificationsReadResponse: Message, MessageObject {
  package static let blank = MarkNotificationsReadResponse(notifications: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("notifications", &notifications, "One item for each ID, in order.")
  }
}

extension MarkNotificationsReadResponse.Item: MessageObject {
  package static let blank = MarkNotificationsReadResponse.Item(notificationID: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("notificationID", &notificationID)
    var isRead = true
    try coder.written("read", &isRead)
  }
}
