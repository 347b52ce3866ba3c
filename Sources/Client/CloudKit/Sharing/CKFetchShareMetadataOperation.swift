internal import WebServices

/// An operation that fetches the metadata of shares from their URLs.
///
/// The URL of a share that does not exist fails with `unknownItem`. A URL without a path fails with
/// `invalidArguments`. Errors of single URLs go to ``perShareMetadataResultBlock``; the result of
/// the operation is then still success. Add the operation to a container.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
  /// The URLs of the shares. With nil or an empty list, the operation succeeds without a request.
  open var shareURLs: [URL]?
  /// Whether the metadata includes the root record; false unless set. The IDs of the root record
  /// are always included.
  open var shouldFetchRootRecord = false
  /// The names of the fields of root records to fetch; nil means all. Ignored unless
  /// ``shouldFetchRootRecord`` is set.
  open var rootRecordDesiredKeys: [CKRecord.FieldKey]?

  /// The block that the operation calls with the result of each URL, before
  /// ``fetchShareMetadataResultBlock``.
  open var perShareMetadataResultBlock: ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the URLs. The result is a failure
  /// only if the whole request failed.
  open var fetchShareMetadataResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls with the result of each URL, after
  /// ``perShareMetadataResultBlock``.
  @available(*, deprecated, renamed: "perShareMetadataResultBlock")
  open var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)? {
    get { itemCompletion }
    set { itemCompletion = newValue }
  }
  /// The block that the operation calls once, after ``fetchShareMetadataResultBlock``. The error is
  /// `partialFailure` if some URLs failed.
  @available(*, deprecated, renamed: "fetchShareMetadataResultBlock")
  open var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var itemCompletion: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
  private var completion: (((any Error)?) -> Void)?
  /// The URLs in the order of the request. The server answers in the same order.
  private var sent: [URL] = []
  private var itemErrors = ItemErrors()

  /// Makes an operation that fetches the metadata for these URLs.
  public convenience init(shareURLs: [URL]) {
    self.init()
    self.shareURLs = shareURLs
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    var items: [ResolveSharesRequest.Item] = []
    for url in shareURLs ?? [] {
      guard let shortGUID = url.shareShortGUID else {
        finish(
          url, .failure(CKError(.invalidArguments, "'\(url)' is not the URL of a share")))
        continue
      }
      items.append(
        ResolveSharesRequest.Item(
          shortGUID: shortGUID, fetchesRootRecord: shouldFetchRootRecord,
          rootRecordDesiredKeys: shouldFetchRootRecord ? rootRecordDesiredKeys : nil))
      sent.append(url)
    }
    guard !items.isEmpty else { return nil }
    return ServiceCall(
      operation: "records/resolve", scope: .public, body: ResolveSharesRequest(items: items).body)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let response = try read { () throws(ServiceError) in
      try SharesResponse(parsing: answer.body)
    }
    for (url, result) in try pair(sent, with: response.results) {
      switch result {
      case .success(let share):
        guard
          let metadata = CKShareMetadata(share, includesRootRecord: shouldFetchRootRecord)
        else {
          finish(url, .failure(CKError(.internalError, "the server's answer is not a share")))
          continue
        }
        finish(url, .success(metadata))
      case .failure(let failed):
        finish(url, .failure(CKError(failed.error)))
      }
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    fetchShareMetadataResultBlock?(error.map { .failure($0) } ?? .success(()))
    completion?(error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perShareMetadataResultBlock = nil
    fetchShareMetadataResultBlock = nil
    itemCompletion = nil
    completion = nil
  }

  private func finish(_ url: URL, _ result: Result<CKShare.Metadata, CKError>) {
    switch result {
    case .success(let metadata):
      perShareMetadataResultBlock?(url, .success(metadata))
      itemCompletion?(url, metadata, nil)
    case .failure(let error):
      itemErrors.add(error, for: url)
      perShareMetadataResultBlock?(url, .failure(error))
      itemCompletion?(url, nil, error)
    }
  }
}
