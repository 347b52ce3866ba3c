internal import WebServices

/// Fetches what may be known of shares from their URLs. A share that does not exist fails with
/// `unknownItem`.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
  open var shareURLs: [URL]?
  /// Whether the metadata shall hold the root record. The record IDs come in any case.
  open var shouldFetchRootRecord = false
  /// The fields of the root records to fetch; nil means all.
  open var rootRecordDesiredKeys: [CKRecord.FieldKey]?

  open var perShareMetadataResultBlock: ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
  open var fetchShareMetadataResultBlock: ((Result<Void, any Error>) -> Void)?
  @available(*, deprecated, renamed: "perShareMetadataResultBlock")
  open var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)? {
    get { itemCompletion }
    set { itemCompletion = newValue }
  }
  @available(*, deprecated, renamed: "fetchShareMetadataResultBlock")
  open var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var itemCompletion: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
  private var completion: (((any Error)?) -> Void)?
  private var sent: [URL] = []
  private var itemErrors = ItemErrors()

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
        guard let metadata = CKShareMetadata(share) else {
          finish(url, .failure(CKError(.internalError, "the server's answer is no share")))
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
