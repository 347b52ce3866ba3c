internal import WebServices

/// Accepts shares for the current user. Their zones then appear in the shared database.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
  open var shareMetadatas: [CKShare.Metadata]?

  /// Called for each share with the share as it was accepted.
  open var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
  open var acceptSharesResultBlock: ((Result<Void, any Error>) -> Void)?
  @available(*, deprecated, renamed: "perShareResultBlock")
  open var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)? {
    get { itemCompletion }
    set { itemCompletion = newValue }
  }
  @available(*, deprecated, renamed: "acceptSharesResultBlock")
  open var acceptSharesCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var itemCompletion: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
  private var completion: (((any Error)?) -> Void)?
  private var sent: [CKShare.Metadata] = []
  private var itemErrors = ItemErrors()

  public convenience init(shareMetadatas: [CKShare.Metadata]) {
    self.init()
    self.shareMetadatas = shareMetadatas
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    var items: [ResolveSharesRequest.Item] = []
    for metadata in shareMetadatas ?? [] {
      guard let shortGUID = metadata.share.url?.shareShortGUID else {
        finish(
          metadata, .failure(CKError(.invalidArguments, "the metadata's share has no URL")))
        continue
      }
      items.append(ResolveSharesRequest.Item(shortGUID: shortGUID))
      sent.append(metadata)
    }
    guard !items.isEmpty else { return nil }
    return ServiceCall(
      operation: "records/accept", scope: .public, body: ResolveSharesRequest(items: items).body)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let response = try read { () throws(ServiceError) in
      try SharesResponse(parsing: answer.body)
    }
    for (metadata, result) in try pair(sent, with: response.results) {
      switch result {
      case .success(let accepted):
        guard let share = CKRecord(accepted.share) as? CKShare else {
          finish(metadata, .failure(CKError(.internalError, "the server's answer is no share")))
          continue
        }
        finish(metadata, .success(share))
      case .failure(let failed):
        finish(metadata, .failure(CKError(failed.error)))
      }
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    acceptSharesResultBlock?(error.map { .failure($0) } ?? .success(()))
    completion?(error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perShareResultBlock = nil
    acceptSharesResultBlock = nil
    itemCompletion = nil
    completion = nil
  }

  private func finish(_ metadata: CKShare.Metadata, _ result: Result<CKShare, CKError>) {
    switch result {
    case .success(let share):
      perShareResultBlock?(metadata, .success(share))
      itemCompletion?(metadata, share, nil)
    case .failure(let error):
      itemErrors.add(error, for: metadata)
      perShareResultBlock?(metadata, .failure(error))
      itemCompletion?(metadata, nil, error)
    }
  }
}

extension URL {
  /// What names a share in its URL: the last part of the path; nil when there is none.
  var shareShortGUID: String? {
    let name = lastPathComponent
    return name.isEmpty || name == "/" ? nil : name
  }
}
