/// The operation that reads a page of the notification log for ``PetrelNotificationPages``.
///
/// The module does not use Apple's ``CKFetchNotificationChangesOperation`` here, because it is deprecated and its use
/// gives a warning.
final class ReadNotificationsOperation: CKOperation, @unchecked Sendable {
  /// The token of the last page; `nil` means the beginning of the log.
  var token: CKServerChangeToken?
  var limit = 0
  var completion: ((Result<PetrelNotificationPage, any Error>) -> Void)?
  private var page: PetrelNotificationPage?

  override func firstCall() throws(CKError) -> ServiceCall? {
    .notificationChanges(since: token, limit: limit)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    page = try notificationPage(of: answer)
    return nil
  }

  override func conclude(_ error: CKError?) {
    let missing = CKError(
      .internalError, "the server's answer has no page of the notification log")
    completion?(page.map { .success($0) } ?? .failure(error ?? missing))
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    completion = nil
  }
}
