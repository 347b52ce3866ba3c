internal import WebServices

/// An operation that accepts shares for the current user.
///
/// Fetch the metadata with ``CKFetchShareMetadataOperation`` first. After the acceptance, the zones
/// of the shares appear in the user's shared database. Add the operation to a container.
///
/// Errors of single shares go to ``perShareResultBlock``; the result of the operation is then still
/// success.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
  /// The metadata of the shares to accept. With nil or an empty list, the operation succeeds
  /// without a request.
  open var shareMetadatas: [CKShare.Metadata]?

  /// The block that the operation calls with the result of each share. A success has the share
  /// after the acceptance.
  open var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the shares. The result is a
  /// failure only if the whole request failed.
  open var acceptSharesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls with the result of each share, after
  /// ``perShareResultBlock``.
  @available(*, deprecated, renamed: "perShareResultBlock")
  open var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)? {
    get { itemCompletion }
    set { itemCompletion = newValue }
  }
  /// The block that the operation calls once, after ``acceptSharesResultBlock``. The error is
  /// `partialFailure` if some shares failed.
  @available(*, deprecated, renamed: "acceptSharesResultBlock")
  open var acceptSharesCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var itemCompletion: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
  private var completion: (((any Error)?) -> Void)?
  /// The metadata in the order of the request. The server answers in the same order.
  private var sent: [CKShare.Metadata] = []
  private var itemErrors = ItemErrors()

  /// Makes an operation that accepts these shares.
  public convenience init(shareMetadatas: [CKShare.Metadata]) {
    self.init()
    self.shareMetadatas = shareMetadatas
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    var items: [ResolveSharesRequest.Item] = []
    for metadata in shareMetadatas ?? [] {
      guard let shortGUID = metadata.shortGUID ?? metadata.share.url?.shareShortGUID else {
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
          finish(metadata, .failure(CKError(.internalError, "the server's answer is not a share")))
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
  /// The name of a share in its URL: the last part of the path. Nil if the path is empty. The host
  /// does not matter, so the URLs of any server work.
  var shareShortGUID: String? {
    let name = lastPathComponent
    return name.isEmpty || name == "/" ? nil : name
  }
}
