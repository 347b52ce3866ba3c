import CloudKitModel
import Foundation
import JSONCoding
import PushChannels
import StoreModel
import WebServices

/// `notifications/changes` and `notifications/markRead`: the caller's notification log in a
/// container.
package struct NotificationsEndpoint: Sendable {
  let store: any NotificationLogStore

  package init(store: any NotificationLogStore) {
    self.store = store
  }

  var operations: [Operation] {
    [
      Operation(
        "notifications/changes", of: .container, for: .accounts, .reads, changes,
        .init(
          "Notification log", "Read the caller's notification log",
          "Petrel's own. docs/notification-log.md says more.", answer: "A page of entries.")),
      Operation(
        "notifications/markRead", of: .container, for: .accounts, .changes, markRead,
        .init(
          "Notification log", "Mark notifications as read", "Petrel's own.",
          answer: "One item for each ID, in order.")),
    ]
  }

  private func changes(
    _ request: NotificationChangesRequest, _ context: RequestContext
  ) async throws -> NotificationChangesResponse {
    try await changes(
      of: try context.recipient(), since: request.syncToken,
      limit: ServiceLimits.pageSize(askedFor: request.resultsLimit))
  }

  package func changes(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationChangesResponse {
    let page = try await store.notificationLog(of: recipient, since: token, limit: limit)
    return NotificationChangesResponse(
      notifications: try page.notifications.map { try Self.item($0, for: recipient) },
      syncToken: page.token, moreComing: page.moreComing)
  }

  private static func item(
    _ notification: LoggedNotification, for recipient: Recipient
  ) throws -> NotificationLogItem {
    switch notification {
    case .unread(let entry):
      let payload = PushPayload(entry.notification, badge: nil, reader: .log)
      return NotificationLogItem(
        payload: try JSONValue(parsing: Data(payload.bytes)).object ?? [:],
        fields: entry.notification.loggedValues)
    case .read(let notificationID, _):
      return NotificationLogItem(
        readNotificationID: notificationID.uuidString.lowercased(),
        container: recipient.container, environment: recipient.environment)
    }
  }

  /// Marks notifications as read. An ID that the caller's log does not have is a `NOT_FOUND` of its
  /// own.
  private func markRead(
    _ request: MarkNotificationsReadRequest, _ context: RequestContext
  ) async throws -> MarkNotificationsReadResponse {
    let recipient = try context.recipient()
    let marked = try await store.markNotificationsRead(
      request.notificationIDs.compactMap { UUID(uuidString: $0) }, of: recipient,
      timestamp: context.now)
    let items = request.notificationIDs.map {
      id -> Result<MarkNotificationsReadResponse.Item, FailedItem> in
      if let uuid = UUID(uuidString: id), marked.contains(uuid) {
        return .success(.init(notificationID: id))
      }
      return .failure(
        FailedItem(
          .notification(notificationID: id),
          ServiceError(.notFound, "notification '\(id)' is not in the notification log")))
    }
    return MarkNotificationsReadResponse(notifications: context.reported(items))
  }
}

extension RequestContext {
  /// The caller in the container that the request is for.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` for anonymous callers.
  func recipient() throws(ServiceError) -> Recipient {
    Recipient(
      userRecordName: try user(), container: path.container, environment: path.environment)
  }
}
