extension CKDatabase {
  /// One batch of query results: the records in the query's order, and a cursor for the next batch.
  /// The cursor is `nil` when no more results follow. Records that the server cannot return come
  /// last, with an error.
  public typealias QueryResults = (
    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
    queryCursor: CKQueryOperation.Cursor?
  )

  /// Searches for records, and fetches the first batch of results.
  ///
  /// - Parameters:
  ///   - query: the record type, the predicate and the order.
  ///   - zoneID: the zone to search; `nil` means all zones of the database. The shared database
  ///     requires a zone.
  ///   - desiredKeys: the fields to fetch; `nil` means all. An empty list means only the system
  ///     fields, such as the change tag.
  ///   - resultsLimit: the largest number of records in the batch. 0 lets the server choose. The
  ///     server returns at most 200.
  ///   - completionHandler: called on a background queue with the records in the query's order and
  ///     a cursor. The cursor is `nil` when no more results follow. An invalid predicate gives
  ///     `invalidArguments`.
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

  /// Searches for records, and returns the first batch of results.
  ///
  /// - Parameters:
  ///   - query: the record type, the predicate and the order.
  ///   - zoneID: the zone to search; `nil` means all zones of the database. The shared database
  ///     requires a zone.
  ///   - desiredKeys: the fields to fetch; `nil` means all. An empty list means only the system
  ///     fields, such as the change tag.
  ///   - resultsLimit: the largest number of records in the batch. 0 lets the server choose. The
  ///     server returns at most 200.
  /// - Returns: the records in the query's order, and a cursor for
  ///   ``records(continuingMatchFrom:desiredKeys:resultsLimit:)``. The cursor is `nil` when no more
  ///   results follow.
  /// - Throws: `invalidArguments` for a predicate or order that the server does not support, and
  ///   for a negative limit.
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

  /// Fetches the next batch of results of a search.
  ///
  /// - Parameters:
  ///   - queryCursor: the cursor that came with the previous batch.
  ///   - desiredKeys: the fields to fetch; `nil` means all. An empty list means only the system
  ///     fields, such as the change tag.
  ///   - resultsLimit: the largest number of records in the batch. 0 lets the server choose. The
  ///     server returns at most 200.
  ///   - completionHandler: called on a background queue. The cursor is `nil` when no more results
  ///     follow.
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

  /// Returns the next batch of results of a search.
  ///
  /// - Parameters:
  ///   - queryCursor: the cursor that came with the previous batch.
  ///   - desiredKeys: the fields to fetch; `nil` means all. An empty list means only the system
  ///     fields, such as the change tag.
  ///   - resultsLimit: the largest number of records in the batch. 0 lets the server choose. The
  ///     server returns at most 200.
  /// - Returns: the records in the query's order, and a cursor. The cursor is `nil` when no more
  ///   results follow.
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

  /// Searches for records, and fetches only the first batch of results.
  ///
  /// If one record of the batch has an error, the handler gets that error and no records.
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

  /// Searches for records, and returns only the first batch of results.
  ///
  /// - Throws: the error of the search, or of the first record that has one.
  @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:)")
  @discardableResult
  public func perform(
    _ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?
  ) async throws -> [CKRecord] {
    let results: QueryResults = try await records(
      matching: query, inZoneWith: zoneID, desiredKeys: nil)
    return try Self.records(.success(results)).get()
  }

  /// Searches for records, and returns only the first batch of results.
  ///
  /// Swift chooses this overload only when the call needs an array of records.
  ///
  /// - Throws: the error of the search, or of the first record that has one.
  @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:)")
  @discardableResult
  @_disfavoredOverload
  public func records(
    matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?
  ) async throws -> [CKRecord] {
    try await perform(query, inZoneWith: zoneID)
  }

  // MARK: The operation

  /// Returns the records of a batch. If records have errors, returns the first of these errors.
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
