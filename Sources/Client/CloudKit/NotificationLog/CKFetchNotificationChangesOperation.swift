/// An operation that fetches the new entries of the user's notification log since a token. An entry is a notification,
/// or the mark that a device has read one.
///
/// The server logs each notification of the user in the container, from all databases. By default it keeps an entry for
/// 30 days, and the newest 10,000 entries of a user. If the server has deleted an entry that the token had not reached,
/// the operation fails with `changeTokenExpired`. Then fetch again with the token `nil`.
///
/// An unread notification is complete, with all desired keys. A notification that is marked as read is a
/// `CKNotification` of type `readNotification` with only its ID. If several subscriptions fired on one change, the log
/// has a notification for each, all with the same ID.
///
/// ```swift
/// let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: token)
/// operation.notificationChangedBlock = { notification in … }
/// operation.fetchNotificationChangesCompletionBlock = { token, error in
///   // Keep the token; when operation.moreComing is true, fetch again with it.
/// }
/// CKContainer.default().add(operation)
/// ```
///
/// Source: Apple, "CKFetchNotificationChangesOperation" (macOS 10.10 to 10.13).
@available(
  *, deprecated,
  message:
    "Use CKDatabaseSubscription, CKFetchDatabaseChangesOperation and CKFetchRecordZoneChangesOperation"
)
// `@unchecked Sendable`, as Apple declares its operations. The operation reads its settings when it starts.
open class CKFetchNotificationChangesOperation: CKOperation, @unchecked Sendable {
  /// The token of the last fetch; `nil` means the beginning of the log.
  open var previousServerChangeToken: CKServerChangeToken?
  /// The largest number of notifications; 0 lets the server choose. One operation fetches at most 200. A negative
  /// number fails with `invalidArguments`.
  open var resultsLimit = 0
  /// Whether the log has more entries. If so, fetch again with the new token. The value is set before the completion
  /// block runs.
  open private(set) var moreComing = false

  /// Called for each notification, oldest first.
  open var notificationChangedBlock: ((CKNotification) -> Void)?
  /// Called last, with the token for the next fetch, or with `nil` and the error when the operation failed.
  open var fetchNotificationChangesCompletionBlock: ((CKServerChangeToken?, (any Error)?) -> Void)?

  private var serverChangeToken: CKServerChangeToken?

  /// Creates an operation for the changes since a token; `nil` means the beginning of the log.
  public convenience init(previousServerChangeToken: CKServerChangeToken?) {
    self.init()
    self.previousServerChangeToken = previousServerChangeToken
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard resultsLimit >= 0 else {
      throw CKError(.invalidArguments, "resultsLimit \(resultsLimit) must not be negative")
    }
    return .notificationChanges(since: previousServerChangeToken, limit: resultsLimit)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let page = try notificationPage(of: answer)
    for notification in page.notifications { notificationChangedBlock?(notification) }
    moreComing = page.moreComing
    serverChangeToken = page.token
    return nil
  }

  override func conclude(_ error: CKError?) {
    fetchNotificationChangesCompletionBlock?(error == nil ? serverChangeToken : nil, error)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    notificationChangedBlock = nil
    fetchNotificationChangesCompletionBlock = nil
  }
}
