import CloudKitModel
import JSONCoding

/// The body of `notifications/markRead`: notifications to mark as read in the caller's log. Petrel's
/// own.
public struct MarkNotificationsReadRequest: Sendable, Hashable {
  /// The `nid`s of payloads.
  public var notificationIDs: [String]

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

/// A notification of a request, by its ID.
private struct NotificationName: MessageObject {
  var notificationID: String

  static let blank = NotificationName(notificationID: "")

  mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("notificationID", &notificationID, "The `nid` of a payload.")
  }
}

/// The answer of `notifications/markRead`: for each ID that was asked for, in the same order, that it
/// is read, or why not.
public struct MarkNotificationsReadResponse: Sendable, Hashable {
  /// A notification that is marked as read.
  public struct Item: Sendable, Hashable {
    public var notificationID: String

    public init(notificationID: String) {
      self.notificationID = notificationID
    }
  }

  public var notifications: [Result<Item, FailedItem>]

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
