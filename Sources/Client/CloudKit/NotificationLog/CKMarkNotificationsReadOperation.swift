internal import CloudKitModel
internal import WebServices

/// An operation that marks notifications as read for all devices of the user.
///
/// Each device gets the marks when it fetches the changes of the notification log. If several entries of the log have
/// the same ID, the server marks all of them. Marking an entry twice is no error. An ID that is not in the log, or no
/// longer, fails with `unknownItem`. The completion block then gets the marked IDs and `partialFailure`, which has the
/// error of each other ID.
///
/// Source: Apple, "CKMarkNotificationsReadOperation" (macOS 10.10 to 10.13).
@available(
  *, deprecated,
  message:
    "Use CKDatabaseSubscription, CKFetchDatabaseChangesOperation and CKFetchRecordZoneChangesOperation"
)
// `@unchecked Sendable`, as Apple declares its operations. The operation reads its settings when it starts.
open class CKMarkNotificationsReadOperation: CKOperation, @unchecked Sendable {
  /// The IDs of the notifications to mark, at most 400. If there are none, the operation succeeds without a request.
  open var notificationIDs: [CKNotification.ID]?

  /// Called last, with the IDs that are marked now, and with the error if an ID or the whole operation failed.
  open var markNotificationsReadCompletionBlock: (([CKNotification.ID]?, (any Error)?) -> Void)?

  /// The IDs of the request, in order.
  private var sent: [CKNotification.ID] = []
  private var marked: [CKNotification.ID] = []
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
