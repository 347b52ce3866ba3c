import CloudKitModel
import Foundation
import JSONCoding

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

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    syncToken = try reader.optionalString("syncToken")
    resultsLimit = try reader.optionalInt("resultsLimit") ?? 0
    guard resultsLimit >= 0 else {
      throw ServiceError(.badRequest, "resultsLimit: must not be negative")
    }
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("syncToken", ifPresent: syncToken)
      if resultsLimit > 0 { writer.member("resultsLimit", resultsLimit) }
    }
    return writer.data
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

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    var items: [NotificationLogItem] = []
    for element in try reader.member("notifications").elements() {
      items.append(try NotificationLogItem(element))
    }
    notifications = items
    syncToken = try reader.member("syncToken").string()
    moreComing = try reader.optionalBool("moreComing") ?? false
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter(reserving: 512 * (notifications.count + 1))
    writer.object { writer in
      writer.key("notifications")
      writer.array { writer in
        for notification in notifications { notification.write(to: &writer, context: context) }
      }
      writer.member("syncToken", syncToken)
      writer.member("moreComing", moreComing)
    }
    return writer.data
  }
}
