import CloudKitModel
import Foundation
import JSONCoding
import PushChannels
import Storage
import StoreModel
import WebServices

/// The endpoint of `notifications/changes` and `notifications/markRead`, Petrel's addition: the
/// caller's notification log in a container.
///
/// The log has every notification of the caller, even if its push was shortened or did not arrive.
/// Retention deletes the oldest entries.
package struct NotificationsEndpoint: Sendable {
  let store: NotificationLogService

  /// Creates the endpoint, which the admin API uses too.
  package init(store: NotificationLogService) {
    self.store = store
  }

  var operations: [Operation] {
    [
      Operation(
        "notifications/changes", of: .container, for: .accounts, .reads, changes,
        .init(
          "Notification log", "Read the caller's notification log",
          "Petrel's own. See docs/reference/notification-log.md.", answer: "A page of entries.")),
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

  /// Returns a page of a user's notification log in a container, oldest entries first.
  ///
  /// - Parameters:
  ///   - token: the `syncToken` of the page before; nil for the beginning of the log.
  ///   - limit: the most entries. A page has fewer entries if they are large.
  /// - Throws: `StoreError` with the code `changeTokenExpired` or `badContinuation` for a token
  ///   that has expired or is not valid.
  package func changes(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationChangesResponse {
    let page = try await store.notificationLog(of: recipient, since: token, limit: limit)
    return NotificationChangesResponse(
      notifications: try page.notifications.map { try Self.item($0, for: recipient) },
      syncToken: page.token, moreComing: page.moreComing)
  }

  /// Returns the item of a log entry. An unread entry has the whole push payload, however large; an
  /// entry that is marked as read has only the ID.
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

  /// Answers `notifications/markRead`. The item of an ID that is not in the caller's log is
  /// `NOT_FOUND`. The other notifications are marked.
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
  /// Returns the caller as a recipient in the container and environment of the request.
  func recipient() throws(ServiceError) -> Recipient {
    Recipient(
      userRecordName: try user(), container: path.container, environment: path.environment)
  }
}
