extension CKDatabase {
  /// What a query finds: the records in order, and where to go on when there are more.
  public typealias QueryResults = (
    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
    queryCursor: CKQueryOperation.Cursor?
  )

  /// Searches records.
  ///
  /// - Parameters:
  ///   - zoneID: the zone to search; nil means all.
  ///   - desiredKeys: the fields to fetch; nil means all, an empty list only the system fields.
  @preconcurrency
  public func fetch(
    withQuery query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
    desiredKeys: [CKRecord.FieldKey]? = nil,
    resultsLimit: Int = CKQueryOperation.maximumResults,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
            queryCursor: CKQueryOperation.Cursor?
          ), any Error
        >
      ) -> Void
  ) {
    startSearching(
      CKQueryOperation(query: query), zoneID, desiredKeys, resultsLimit, completionHandler)
  }

  /// Searches records.
  public func records(
    matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
    desiredKeys: [CKRecord.FieldKey]? = nil,
    resultsLimit: Int = CKQueryOperation.maximumResults
  ) async throws -> (
    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
    queryCursor: CKQueryOperation.Cursor?
  ) {
    try await CKOperation.result {
      self.startSearching(CKQueryOperation(query: query), zoneID, desiredKeys, resultsLimit, $0)
    }
  }

  /// Goes on with a search.
  @preconcurrency
  public func fetch(
    withCursor queryCursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]? = nil,
    resultsLimit: Int = CKQueryOperation.maximumResults,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
            queryCursor: CKQueryOperation.Cursor?
          ), any Error
        >
      ) -> Void
  ) {
    startSearching(
      CKQueryOperation(cursor: queryCursor), nil, desiredKeys, resultsLimit, completionHandler)
  }

  /// Goes on with a search.
  public func records(
    continuingMatchFrom queryCursor: CKQueryOperation.Cursor,
    desiredKeys: [CKRecord.FieldKey]? = nil,
    resultsLimit: Int = CKQueryOperation.maximumResults
  ) async throws -> (
    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
    queryCursor: CKQueryOperation.Cursor?
  ) {
    try await CKOperation.result {
      self.startSearching(
        CKQueryOperation(cursor: queryCursor), nil, desiredKeys, resultsLimit, $0)
    }
  }

  /// Searches records and gives the first batch of results.
  @available(
    *, deprecated,
    message: "Use fetch(withQuery:inZoneWith:desiredKeys:resultsLimit:completionHandler:)"
  )
  public func perform(
    _ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?,
    completionHandler: @escaping ([CKRecord]?, (any Error)?) -> Void
  ) {
    startSearching(CKQueryOperation(query: query), zoneID, nil, CKQueryOperation.maximumResults) {
      let records = Self.records($0)
      completionHandler(records.value, records.error)
    }
  }

  /// Searches records and gives the first batch of results.
  @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:)")
  @discardableResult
  @_disfavoredOverload
  public func records(
    matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?
  ) async throws -> [CKRecord] {
    let results: QueryResults = try await records(
      matching: query, inZoneWith: zoneID, desiredKeys: nil)
    return try Self.records(.success(results)).get()
  }

  // MARK: The operation

  private static func records(
    _ results: Result<QueryResults, any Error>
  ) -> Result<[CKRecord], any Error> {
    results.flatMap { results in
      Result { try results.matchResults.map { try $0.1.get() } }
    }
  }

  @discardableResult
  private func startSearching(
    _ operation: CKQueryOperation, _ zoneID: CKRecordZone.ID?, _ desiredKeys: [CKRecord.FieldKey]?,
    _ resultsLimit: Int, _ completion: @escaping Completion<QueryResults>
  ) -> CKOperation {
    let matches = Locked<[(CKRecord.ID, Result<CKRecord, any Error>)]>([])
    operation.zoneID = zoneID
    operation.desiredKeys = desiredKeys
    operation.resultsLimit = resultsLimit
    operation.recordMatchedBlock = { recordID, result in
      matches.withLock { $0.append((recordID, result)) }
    }
    operation.queryResultBlock = { result in
      completion(result.map { (matches.withLock { $0 }, $0) })
    }
    return run(operation)
  }
}
