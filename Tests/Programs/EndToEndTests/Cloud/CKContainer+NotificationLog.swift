import CloudKit
import Waiting

/// The result of one fetch of the notification log.
struct LogFetch: @unchecked Sendable {
  // Unchecked: notifications and tokens do not change.
  var notifications: [CKNotification] = []
  var token: CKServerChangeToken?
  var moreComing = false
}

@available(*, deprecated)
extension CKContainer {
  /// Fetches one page of the notification log.
  func fetchLog(since token: CKServerChangeToken?, limit: Int = 0) async throws -> LogFetch {
    let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: token)
    operation.resultsLimit = limit
    let box = FetchBox()
    operation.notificationChangedBlock = { box.fetch.notifications.append($0) }
    return try await withCheckedThrowingContinuation { continuation in
      operation.fetchNotificationChangesCompletionBlock = { [unowned operation] token, error in
        if let error { return continuation.resume(throwing: error) }
        box.fetch.token = token
        box.fetch.moreComing = operation.moreComing
        continuation.resume(returning: box.fetch)
      }
      add(operation)
    }
  }

  /// Fetches the whole log since a token, page by page.
  func fetchWholeLog(since token: CKServerChangeToken?, limit: Int = 0) async throws -> LogFetch {
    var whole = LogFetch()
    whole.token = token
    repeat {
      let page = try await fetchLog(since: whole.token, limit: limit)
      whole.notifications += page.notifications
      whole.token = page.token
      whole.moreComing = page.moreComing
    } while whole.moreComing
    return whole
  }

  /// Fetches the log since a token until it has this many entries.
  func awaitLog(_ count: Int, since token: CKServerChangeToken? = nil) async throws -> LogFetch {
    var fetch = LogFetch()
    try await eventually("the log has \(count) entries") {
      fetch = try await self.fetchWholeLog(since: token)
      return fetch.notifications.count >= count
    }
    return fetch
  }

  /// Marks notifications as read and returns those that are marked.
  func markRead(
    _ ids: [CKNotification.ID]
  ) async -> (marked: [CKNotification.ID]?, error: CKError?) {
    let operation = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: ids)
    return await withCheckedContinuation { continuation in
      operation.markNotificationsReadCompletionBlock = { ids, error in
        continuation.resume(returning: (ids, error as? CKError))
      }
      add(operation)
    }
  }

  func setBadge(_ badge: Int) async throws {
    let operation = CKModifyBadgeOperation(badgeValue: badge)
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      operation.modifyBadgeCompletionBlock = { error in
        continuation.resume(with: error.map { .failure($0) } ?? .success(()))
      }
      add(operation)
    }
  }
}

/// The blocks of an operation run one after the other, so nothing here is used by two at once.
private final class FetchBox: @unchecked Sendable {
  var fetch = LogFetch()
}
