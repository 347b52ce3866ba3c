internal import CloudKitModel
internal import WebServices

/// Marks notifications as read for all of the user's devices: each learns of it when it fetches the
/// changes of the notification log.
///
/// All entries with an ID are marked, whichever subscriptions they come from; marking twice is no
/// error. An ID that the log does not have, for it is unknown or was trimmed, fails with
/// `unknownItem`: the completion block then gets `partialFailure` with the errors by ID, beside the
/// IDs that are marked.
///
/// Source: Apple, "CKMarkNotificationsReadOperation" (macOS 10.10 to 10.13).
@available(
  *, deprecated,
  message:
    "Use CKDatabaseSubscription, CKFetchDatabaseChangesOperation and CKFetchRecordZoneChangesOperation"
)
// As Apple declares its operations; what a caller sets is read when the operation starts.
open class CKMarkNotificationsReadOperation: CKOperation, @unchecked Sendable {
  /// At most 400.
  open var notificationIDs: [CKNotification.ID]?

  /// Called last, with the IDs that are marked now.
  open var markNotificationsReadCompletionBlock: (([CKNotification.ID]?, (any Error)?) -> Void)?

  private var sent: [CKNotification.ID] = []
  private var marked: [CKNotification.ID] = []
  private var itemErrors = ItemErrors()

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
