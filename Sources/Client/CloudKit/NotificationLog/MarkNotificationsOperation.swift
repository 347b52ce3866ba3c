internal import WebServices

/// The operation that ``CKContainer/petrelMarkRead(_:)`` uses. An ID that the log does not have is no error.
final class MarkNotificationsOperation: CKOperation, @unchecked Sendable {
  var notificationIDs: [CKNotification.ID] = []
  var completion: ((Result<Void, any Error>) -> Void)?

  override func firstCall() throws(CKError) -> ServiceCall? {
    .marking(notificationIDs)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    for case .failure(let failed) in try marks(of: answer) where failed.error.code != .notFound {
      throw CKError(failed.error)
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    completion?(error.map { .failure($0) } ?? .success(()))
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    completion = nil
  }
}
