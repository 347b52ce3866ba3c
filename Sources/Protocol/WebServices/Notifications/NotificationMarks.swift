import CloudKitModel
import Foundation
import JSONCoding

/// The body of `notifications/markRead`: notifications to mark as read in the caller's log. Petrel's
/// own.
public struct MarkNotificationsReadRequest: Sendable, Hashable {
  /// The `nid`s of payloads.
  public var notificationIDs: [String]

  public init(notificationIDs: [String]) {
    self.notificationIDs = notificationIDs
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    var ids: [String] = []
    for element in try reader.limitedElements(of: "notifications").elements() {
      ids.append(try element.member("notificationID").string())
    }
    notificationIDs = ids
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("notifications")
      writer.array { writer in
        for id in notificationIDs {
          writer.object { $0.member("notificationID", id) }
        }
      }
    }
    return writer.data
  }
}

/// The answer of `notifications/markRead`: for each ID that was asked for, in the same order, that it
/// is read, or why not.
public struct MarkNotificationsReadResponse: Sendable, Hashable {
  public var notifications: [Result<String, FailedItem>]

  public init(notifications: [Result<String, FailedItem>]) {
    self.notifications = notifications
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    notifications = try reader.member("notifications").answers {
      (element) throws(ServiceError) in try element.member("notificationID").string()
    }
  }

  public var body: Data {
    var writer = JSONWriter(reserving: 64 * (notifications.count + 1))
    writer.object { writer in
      writer.key("notifications")
      writer.array { writer in
        for item in notifications {
          switch item {
          case .success(let id):
            writer.object { writer in
              writer.member("notificationID", id)
              writer.member("read", true)
            }
          case .failure(let failed):
            failed.write(to: &writer, context: MessageContext(ownerNaming: .explicit))
          }
        }
      }
    }
    return writer.data
  }
}
