internal import CloudKitModel
internal import WebServices

/// An operation that marks notifications as read for all devices of the user.
///
/// Each device learns of the marks when it fetches the changes of the notification log. The server marks all entries
/// with an ID, from all subscriptions. Marking an entry twice is no error. An ID that the log does not have, or has no
/// longer, fails with `unknownItem`. The completion block then gets `partialFailure` with the errors by ID, and the IDs
/// that are marked.
///
/// Source: Apple, "CKMarkNotificationsReadOperation" (macOS 10.10 to 10.13).
@available(
  *, deprecated,
  message:
    "Use CKDatabaseSubscription, CKFetchDatabaseChangesOperation and CKFetchRecordZoneChangesOperation"
)
// As Apple declares its operations; the operation reads its settings when it starts.
open class CKMarkNotificationsReadOperation: CKOperation, @unchecked Sendable {
  /// The notifications to mark, at most 400. Without any, the operation succeeds without a request.
  open var notificationIDs: [CKNotification.ID]?

  /// Called last, with the IDs that are marked now and the error.
  open var markNotificationsReadCompletionBlock: (([CKNotification.ID]?, (any Error)?) -> Void)?

  /// The IDs of the request, in order.
  private var sent: [CKNotification.ID] = []
  /// The IDs that the server has marked.
  private var marked: [CKNotification.ID] = []
  /// The errors of single IDs.
  private var itemErrors = ItemErrors()

  /// Creates an operation that marks notifications as read.
  public convenience init(notificationIDsToMarkRead notificationIDs: [CKNotification.ID]) {
    self.init()
    self.notificationIDs = notificationIDs
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    sent = notificationIDs ?? []
    guard !sent.isEmpty else { return nil }
    return .marking(sent)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    for (notificationID, item) in try pair(sent, with: try marks(of: answer)) {
      switch item {
      case .success: marked.append(notificationID)
      case .failure(let failed): itemErrors.add(CKError(failed.error), for: notificationID)
      }
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    markNotificationsReadCompletionBlock?(marked, error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    markNotificationsReadCompletionBlock = nil
  }
}
