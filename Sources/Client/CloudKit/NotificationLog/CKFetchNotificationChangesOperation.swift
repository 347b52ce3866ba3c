/// Fetches what changed in the user's notification log since a token: new notifications, and those
/// that some device marked as read.
///
/// The server logs every notification of the user in the container, whichever database it comes
/// from, for 30 days and 10,000 entries unless it is configured otherwise; a token from before what is
/// left fails with `changeTokenExpired`: start without one. One that is not read comes whole, with all
/// desired keys; one that was marked comes as a `CKNotification` of type `readNotification` with
/// nothing but its ID. Several subscriptions that fired on one change are several notifications with one ID.
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
// As Apple declares its operations; what a caller sets is read when the operation starts.
open class CKFetchNotificationChangesOperation: CKOperation, @unchecked Sendable {
  /// Where to go on; nil means the beginning of the log.
  open var previousServerChangeToken: CKServerChangeToken?
  /// Notifications at most; 0 leaves it to the server, which gives at most 200.
  open var resultsLimit = 0
  /// Whether the log has more already: fetch again with the new token. Set before the completion
  /// block runs.
  open private(set) var moreComing = false

  /// Called for each notification, oldest first.
  open var notificationChangedBlock: ((CKNotification) -> Void)?
  /// Called last, with the token for the next fetch; it is nil when the operation failed.
  open var fetchNotificationChangesCompletionBlock: ((CKServerChangeToken?, (any Error)?) -> Void)?

  private var serverChangeToken: CKServerChangeToken?

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
