import CloudKitModel
import Foundation
import StoreModel

extension HookedStore {
  func notificationLog(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationLogPage {
    try await base.notificationLog(of: recipient, since: token, limit: limit)
  }

  func markNotificationsRead(
    _ notificationIDs: [UUID], of recipient: Recipient, timestamp: Timestamp
  ) async throws -> Set<UUID> {
    try await base.markNotificationsRead(notificationIDs, of: recipient, timestamp: timestamp)
  }

  func setBadge(_ badge: Int, of recipient: Recipient) async throws {
    try await base.setBadge(badge, of: recipient)
  }
}
