extension CKContainer {
  // MARK: Metadata

  /// Fetches what may be known of a share from its URL.
  public func fetchShareMetadata(
    with url: URL, completionHandler: @escaping (CKShare.Metadata?, (any Error)?) -> Void
  ) {
    startFetchingMetadata([url]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Fetches what may be known of a share from its URL.
  public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
    try await CKOperation.result { completion in
      self.startFetchingMetadata([url]) { completion($0.single($1)) }
    }
  }

  /// Fetches what may be known of shares from their URLs.
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

  /// Fetches what may be known of shares from their URLs.
  public func shareMetadatas(
    for urls: [URL]
  ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
    try await CKOperation.result { completion in
      self.startFetchingMetadata(urls) { completion($0.all($1)) }
    }
  }

  // MARK: Accepting

  /// Accepts a share for the current user.
  public func accept(
    _ metadata: CKShare.Metadata, completionHandler: @escaping (CKShare?, (any Error)?) -> Void
  ) {
    startAccepting([metadata]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Accepts a share for the current user.
  @discardableResult
  public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
    try await CKOperation.result { completion in
      self.startAccepting([metadata]) { completion($0.single($1)) }
    }
  }

  /// Accepts shares for the current user.
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
  @discardableResult
  public func accept(
    _ metadatas: [CKShare.Metadata]
  ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
    try await CKOperation.result { completion in
      self.startAccepting(metadatas) { completion($0.all($1)) }
    }
  }
}

// MARK: - The operations

extension CKContainer {
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
