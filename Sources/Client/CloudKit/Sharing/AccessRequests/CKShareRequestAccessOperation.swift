internal import WebServices

/// An operation that requests access to shares to which the current user is not invited.
///
/// The owner of a share finds the request in ``CKShare/requesters``. A success says only that the
/// server has received the request. The answer is the same whether the share exists, allows requests
/// or blocks the user. A user who is already invited gets an error. A URL without a path fails with
/// `invalidArguments`.
///
/// Errors of single URLs go to ``perShareAccessRequestResultBlock``; the result of the operation is
/// then still success. Add the operation to a container.
open class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
  /// The URLs of the shares. With nil or an empty list, the operation succeeds without a request.
  open var shareURLs: [URL]?

  /// The block that the operation calls with the result of each URL, before
  /// ``shareAccessRequestResultBlock``.
  open var perShareAccessRequestResultBlock: ((URL, Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the URLs. The result is a failure
  /// only if the whole request failed. The error is never `partialFailure`.
  open var shareAccessRequestResultBlock: ((Result<Void, any Error>) -> Void)?

  /// The URLs in the order of the request. The server answers in the same order.
  private var sent: [URL] = []

  /// Makes an operation that requests access to the shares at these URLs.
  public convenience init(shareURLs: [URL]) {
    self.init()
    self.shareURLs = shareURLs
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    var shortGUIDs: [String] = []
    for url in shareURLs ?? [] {
      guard let shortGUID = url.shareShortGUID else {
        let error = CKError(.invalidArguments, "'\(url)' is not the URL of a share")
        perShareAccessRequestResultBlock?(url, .failure(error))
        continue
      }
      shortGUIDs.append(shortGUID)
      sent.append(url)
    }
    guard !shortGUIDs.isEmpty else { return nil }
    return ServiceCall(
      operation: "records/requestAccess", scope: .public,
      body: RequestAccessRequest(shortGUIDs: shortGUIDs).body)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let response = try read { () throws(ServiceError) in
      try RequestAccessResponse(parsing: answer.body)
    }
    for (url, result) in try pair(sent, with: response.results) {
      switch result {
      case .success: perShareAccessRequestResultBlock?(url, .success(()))
      case .failure(let failed):
        perShareAccessRequestResultBlock?(url, .failure(CKError(failed.error)))
      }
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    shareAccessRequestResultBlock?(error.map { .failure($0) } ?? .success(()))
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perShareAccessRequestResultBlock = nil
    shareAccessRequestResultBlock = nil
  }
}
