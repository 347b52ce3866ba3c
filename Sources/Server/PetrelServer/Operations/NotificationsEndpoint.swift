import CloudKitModel
import Foundation
import JSONCoding
import PushDelivery
import StoreModel
import WebServices

/// `notifications/changes` and `notifications/markRead`: the caller's notification log in a
/// container.
struct NotificationsEndpoint: Sendable {
  let store: any NotificationLogStore

  func changes(_ context: RequestContext) async throws -> Data {
    let recipient = try context.recipient()
    let request = try NotificationChangesRequest(parsing: context.body)
    return try await changes(
      of: recipient, since: request.syncToken,
      limit: ServiceLimits.pageSize(askedFor: request.resultsLimit))
  }

  func changes(of recipient: Recipient, since token: String?, limit: Int) async throws -> Data {
    let page = try await store.notificationLog(of: recipient, since: token, limit: limit)
    return NotificationChangesResponse(
      notifications: try page.notifications.map { try Self.item($0, for: recipient) },
      syncToken: page.token, moreComing: page.moreComing
    ).body(context: MessageContext(ownerNaming: .relative(to: recipient.userRecordName)))
  }

  private static func item(
    _ notification: LoggedNotification, for recipient: Recipient
  ) throws -> NotificationLogItem {
    switch notification {
    case .unread(let entry):
      let payload = PushPayload(entry.notification, badge: nil, form: .log)
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
  func markRead(_ context: RequestContext) async throws -> Data {
    let recipient = try context.recipient()
    let request = try MarkNotificationsReadRequest(parsing: context.body)
    let marked = try await store.markNotificationsRead(
      request.notificationIDs.compactMap { UUID(uuidString: $0) }, of: recipient,
      timestamp: context.now)
    let items = request.notificationIDs.map { id -> Result<String, FailedItem> in
      if let uuid = UUID(uuidString: id), marked.contains(uuid) { return .success(id) }
      return .failure(
        FailedItem(
          .notification(notificationID: id),
          ServiceError(.notFound, "notification '\(id)' is not in the notification log")))
    }
    return MarkNotificationsReadResponse(notifications: context.reported(items)).body
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
