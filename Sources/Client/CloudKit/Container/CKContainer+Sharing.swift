extension CKContainer {
  // MARK: Metadata

  /// Fetches the metadata of a share from its URL.
  ///
  /// The metadata contains the ID of the root record, which is the top of the shared hierarchy, but
  /// not the record. ``CKFetchShareMetadataOperation`` can fetch the record too.
  ///
  /// - Parameters:
  ///   - url: the URL of a share. A URL without a path gives `invalidArguments`.
  ///   - completionHandler: called on a background queue.
  public func fetchShareMetadata(
    with url: URL, completionHandler: @escaping (CKShare.Metadata?, (any Error)?) -> Void
  ) {
    startFetchingMetadata([url]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Returns the metadata of a share from its URL.
  ///
  /// The metadata contains the ID of the root record, which is the top of the shared hierarchy, but
  /// not the record. ``CKFetchShareMetadataOperation`` can fetch the record too.
  ///
  /// - Throws: the error of this share; `invalidArguments` for a URL without a path.
  public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
    try await CKOperation.result { completion in
      self.startFetchingMetadata([url]) { completion($0.single($1)) }
    }
  }

  /// Fetches the metadata of shares from their URLs.
  ///
  /// - Parameter completionHandler: called on a background queue with a result for each URL, or
  ///   with a failure when the whole request fails.
  @preconcurrency
  public func fetchShareMetadatas(
    for urls: [URL],
    completionHandler:
      @escaping @Sendable (
        Result<[URL: Result<CKShare.Metadata, any Error>], any Error>
      ) -> Void
  ) {
    startFetchingMetadata(urls) { completionHandler($0.all($1)) }
  }

  /// Returns the metadata of shares from their URLs.
  ///
  /// - Returns: a result for each URL.
  /// - Throws: an error only when the whole request fails.
  public func shareMetadatas(
    for urls: [URL]
  ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
    try await CKOperation.result { completion in
      self.startFetchingMetadata(urls) { completion($0.all($1)) }
    }
  }

  // MARK: Accepting

  /// Accepts a share for the current user. The share's zone then appears in the shared database.
  ///
  /// - Parameter completionHandler: called on a background queue with the accepted share, or with
  ///   the error of this share.
  public func accept(
    _ metadata: CKShare.Metadata, completionHandler: @escaping (CKShare?, (any Error)?) -> Void
  ) {
    startAccepting([metadata]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Accepts a share for the current user. The share's zone then appears in the shared database.
  ///
  /// - Returns: the accepted share.
  /// - Throws: the error of this share; `invalidArguments` when the metadata has no URL.
  @discardableResult
  public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
    try await CKOperation.result { completion in
      self.startAccepting([metadata]) { completion($0.single($1)) }
    }
  }

  /// Accepts shares for the current user.
  ///
  /// - Parameter completionHandler: called on a background queue with a result for each metadata,
  ///   or with a failure when the whole request fails.
  @preconcurrency
  public func accept(
    _ metadatas: [CKShare.Metadata],
    completionHandler:
      @escaping @Sendable (
        Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>
      ) -> Void
  ) {
    startAccepting(metadatas) { completionHandler($0.all($1)) }
  }

  /// Accepts shares for the current user.
  ///
  /// - Returns: a result for each metadata.
  /// - Throws: an error only when the whole request fails.
  @discardableResult
  public func accept(
    _ metadatas: [CKShare.Metadata]
  ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
    try await CKOperation.result { completion in
      self.startAccepting(metadatas) { completion($0.all($1)) }
    }
  }

  // MARK: Requesting access

  /// Requests access to shares to which the current user is not invited.
  ///
  /// A success says only that the server has received the request; see
  /// ``CKShareRequestAccessOperation``.
  ///
  /// - Parameter urls: the URLs of the shares. A URL without a path gives `invalidArguments`.
  /// - Returns: a result for each URL.
  /// - Throws: an error only when the whole request fails.
  public func requestShareAccess(
    for urls: [URL]
  ) async throws -> [URL: Result<Void, any Error>] {
    try await CKOperation.result { completion in
      self.startRequestingAccess(urls) { completion($0.all($1)) }
    }
  }
}

// MARK: - The operations

extension CKContainer {
  /// The type of a handler that gets the results of the items and the result of the whole
  /// operation.
  private typealias Items<ID: Hashable, Value> = (
    ItemResults<ID, Value>, Result<Void, any Error>
  ) -> Void

  @discardableResult
  private func startFetchingMetadata(
    _ urls: [URL], _ completion: @escaping Items<URL, CKShare.Metadata>
  ) -> CKOperation {
    let items = ItemResults<URL, CKShare.Metadata>()
    let operation = CKFetchShareMetadataOperation(shareURLs: urls)
    operation.perShareMetadataResultBlock = { items.add($0, $1) }
    operation.fetchShareMetadataResultBlock = { completion(items, $0) }
    return run(operation)
  }

  @discardableResult
  private func startRequestingAccess(
    _ urls: [URL], _ completion: @escaping Items<URL, Void>
  ) -> CKOperation {
    let items = ItemResults<URL, Void>()
    let operation = CKShareRequestAccessOperation(shareURLs: urls)
    operation.perShareAccessRequestResultBlock = { items.add($0, $1) }
    operation.shareAccessRequestResultBlock = { completion(items, $0) }
    return run(operation)
  }

  @discardableResult
  private func startAccepting(
    _ metadatas: [CKShare.Metadata], _ completion: @escaping Items<CKShare.Metadata, CKShare>
  ) -> CKOperation {
    let items = ItemResults<CKShare.Metadata, CKShare>()
    let operation = CKAcceptSharesOperation(shareMetadatas: metadatas)
    operation.perShareResultBlock = { items.add($0, $1) }
    operation.acceptSharesResultBlock = { completion(items, $0) }
    return run(operation)
  }
}
