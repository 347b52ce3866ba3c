/// Reads a page of the notification log for ``PetrelNotificationPages``. Apple's operation is deprecated, and so
/// cannot be used without a warning.
final class ReadNotificationsOperation: CKOperation, @unchecked Sendable {
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
    let missing = CKError(.internalError, "the server gave no page of the notification log")
    completion?(page.map { .success($0) } ?? .failure(error ?? missing))
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    completion = nil
  }
}
