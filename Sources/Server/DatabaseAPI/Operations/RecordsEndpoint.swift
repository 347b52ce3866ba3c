import CloudKitModel
import Foundation
import Storage
import StoreModel
import WebServices

/// The endpoint of `records/modify`, `records/lookup` and `records/query`.
struct RecordsEndpoint: Sendable {
  let records: RecordService
  /// The users, for the records of type `Users`.
  let accounts: AccountService
  /// The schemas, for the grants of a record type.
  let schemas: SchemaService
  /// The used signatures of server-to-server keys.
  let signatures: CredentialService
  let databases: DatabaseDirectory
  let links: AssetLinks

  init(of store: Store, databases: DatabaseDirectory, links: AssetLinks) {
    records = store.records
    accounts = store.accounts
    schemas = store.schemas
    signatures = store.credentials
    self.databases = databases
    self.links = links
  }

  var operations: [Operation] {
    [
      Operation(
        "records/modify", of: .anyDatabase, for: .accounts, .changesKeepingAnswer, modify,
        .init(
          "Records", "Save and delete records", answer: "One item for each operation, in order.")),
      Operation(
        "records/query", of: .anyDatabase, for: .everyone, .reads, query,
        .init(
          "Records", "Find records by their fields",
          """
          A query returns only records that the caller may read. A field in a filter or a sort needs the \
          schema option that allows it (docs/reference/schema.md).
          """, answer: "A page of records.")),
      Operation(
        "records/lookup", of: .anyDatabase, for: .everyone, .reads, lookup,
        .init(
          "Records", "Fetch records by their names", answer: "One item for each name, in order.")),
    ]
  }

  /// Answers `records/modify`: one item for each operation, in the order of the request.
  ///
  /// A repeated request with a `requestID` gets the first answer, which the store has kept. The
  /// signature of a server-to-server key stands in for the ID if the request has none and names all
  /// its records.
  ///
  /// - Throws: `BAD_REQUEST` if all records together are larger than
  ///   `ServiceLimits.recordsSizePerRequest`; `TRY_AGAIN_LATER` if the signature was used before.
  private func modify(
    _ request: ModifyRecordsRequest, _ context: RequestContext
  ) async throws -> RecordsResponse {
    let origin = try context.origin()
    try Self.checkSize(of: request)
    let database = try await databases.database(for: context)
    var operations = request.operations
    if request.isAtomic { operations = Self.failingTogether(operations) }
    var requestID = request.requestID
    if let signature = context.credentials.signature, requestID == nil {
      // The server gives a record without a name a new name each time. Two equal requests may
      // therefore mean two records, so the second one must not get the first answer.
      if request.namesAllRecords {
        requestID = signature.requestID
      } else {
        try await signature.spend(in: signatures)
      }
    }
    let modification = modification(
      request, operations, origin, requestID: requestID, in: database, context)
    let outcomes = try await records.modifyRecords(modification)
    let items = try await links.linked(Self.answers(to: operations, outcomes), in: database)
    return Self.response(context.reported(items), to: request)
  }

  /// Returns the request in the form for the store, without the operations that have already
  /// failed.
  private func modification(
    _ request: ModifyRecordsRequest, _ operations: [Result<RecordOperation, FailedItem>],
    _ origin: ChangeOrigin, requestID: String?, in database: DatabaseID, _ context: RequestContext
  ) -> RecordModification {
    var modification = RecordModification(
      // An operation that failed already has its error as its answer.
      database: database, operations: operations.compactMap { try? $0.get() },
      isAtomic: request.isAtomic, origin: origin,
      isByAdministrator: context.caller.isAdministrator, timestamp: context.now,
      requestID: requestID)
    modification.quota = context.databaseQuota
    modification.clientChangeToken = request.clientChangeTokenData.map {
      ClientChangeToken(data: [UInt8]($0), deviceID: context.deviceID)
    }
    return modification
  }

  private static func response(
    _ items: [Result<RecordsResponse.Item, FailedItem>], to request: ModifyRecordsRequest
  ) -> RecordsResponse {
    var response = RecordsResponse(records: items)
    response.detail = RecordDetail(
      desiredKeys: request.desiredKeys, numbersAsStrings: request.numbersAsStrings)
    response.itemDesiredKeys = request.itemDesiredKeys
    return response
  }

  /// Answers `records/lookup`: one item for each name, in the order of the request.
  ///
  /// An item fails with `NOT_FOUND`, `ZONE_NOT_FOUND`, `ACCESS_DENIED` or
  /// `AUTHENTICATION_REQUIRED`. The method reads the list of zones at most once, for the first
  /// missing record of a custom zone.
  private func lookup(
    _ request: LookupRecordsRequest, _ context: RequestContext
  ) async throws -> RecordsResponse {
    let contents = try await databases.contents(for: context)
    let database = contents.database
    let found = try await contents.records.records(request.recordIDs, in: database)
    let access = try await access(
      to: Set(found.compactMap { $0?.recordType }), in: contents, context)
    var zones: Set<ZoneID>?
    var items: [Result<RecordsResponse.Item, FailedItem>] = []
    for (recordID, record) in zip(request.recordIDs, found) {
      if let record {
        if let refusal = access[record.recordType]?.refusal(ofReading: record) {
          let denial = try denial(ofReading: recordID, refusal, context)
          items.append(.failure(FailedItem(.record(recordID), denial)))
        } else {
          items.append(.success(.record(record)))
        }
        continue
      }
      // A shared database has no default zone.
      let isDefaultZone = try recordID.zoneID.isDefaultZone && context.scope() != .shared
      if isDefaultZone, try await hasUserRecord(recordID.recordName, context) {
        items.append(.success(.record(Self.userRecord(recordID))))
        continue
      }
      if !isDefaultZone, zones == nil {
        zones = Set(try await contents.zones.zones(in: database).map(\.zoneID))
      }
      let error =
        isDefaultZone || zones?.contains(recordID.zoneID) ?? true
        ? ServiceError(.notFound, "record '\(recordID)' does not exist")
        : ServiceError(try context.address().missing(recordID.zoneID))
      items.append(
        .failure(
          FailedItem(
            .record(recordID), error)))
    }
    var response = RecordsResponse(
      records: context.reported(try await links.linked(items, in: database)))
    response.detail = RecordDetail(
      desiredKeys: request.desiredKeys, numbersAsStrings: request.numbersAsStrings)
    response.itemDesiredKeys = request.itemDesiredKeys
    return response
  }

  /// Answers `records/query`: a page of the records that match the query and that the caller may
  /// read.
  ///
  /// A page has at most `ServiceLimits.recordsPerPage` records. `continuationMarker` is nil on the
  /// last page.
  private func query(
    _ request: QueryRecordsRequest, _ context: RequestContext
  ) async throws -> RecordsResponse {
    let contents = try await databases.contents(for: context)
    let query = RecordQuery(
      query: request.query, zoneID: request.zoneID,
      limit: ServiceLimits.pageSize(askedFor: request.resultsLimit),
      continuation: request.continuationMarker, caller: context.caller)
    let page = try await page(matching: query, in: contents, context)
    var response = RecordsResponse(
      records: try await links.linked(
        page.records.map { .success(.record($0)) }, in: contents.database),
      continuationMarker: page.continuation)
    response.detail = RecordDetail(
      desiredKeys: request.desiredKeys, numbersAsStrings: request.numbersAsStrings)
    if page.records.isEmpty, request.continuationMarker == nil {
      response.hints = try await unknownNames(in: request.query, context).map {
        "record type '\(request.query.recordType)' does not have the field \($0.advice)"
      }
    }
    return response
  }

  /// Throws `BAD_REQUEST` above `ServiceLimits.recordsSizePerRequest`. The size is an estimate,
  /// without assets.
  private static func checkSize(of request: ModifyRecordsRequest) throws(ServiceError) {
    var size = 0
    for case .success(let operation) in request.operations { size += operation.approximateSize }
    let limit = ServiceLimits.recordsSizePerRequest
    // A single record that is too large gets an error that names the record.
    guard size > limit, request.operations.count > 1 else { return }
    throw ServiceError(
      .badRequest,
      "operations: the records have \(size) bytes together; the limit is \(limit) per request",
      limit: limit)
  }

  /// Whether the database has the user record of this name. Each database has the user record of
  /// the caller. The public database has those of all other users too.
  private func hasUserRecord(_ name: String, _ context: RequestContext) async throws -> Bool {
    if name == context.caller.userRecordName { return true }
    guard try context.scope() == .public, name.hasPrefix("_") else { return false }
    return try await accounts.user(withRecordName: name) != nil
  }

  /// Returns the record of a user whose record was never saved. Such a record exists from the
  /// beginning, without fields.
  private static func userRecord(_ recordID: RecordID) -> Record {
    Record(recordID: recordID, recordType: "Users")
  }

  /// Fails all operations in custom zones if one operation of an atomic request has failed before
  /// the store gets the request.
  ///
  /// - Returns: the operations; those in the default zone are not changed, because that zone has no
  ///   atomic requests.
  private static func failingTogether(
    _ operations: [Result<RecordOperation, FailedItem>]
  ) -> [Result<RecordOperation, FailedItem>] {
    guard operations.contains(where: { if case .failure = $0 { true } else { false } }) else {
      return operations
    }
    return operations.map { operation in
      operation.flatMap { operation in
        // The default zone has no atomic requests, so each operation succeeds or fails alone.
        if operation.recordID.zoneID.isDefaultZone { return .success(operation) }
        return .failure(
          FailedItem(
            .record(operation.recordID),
            ServiceError(.atomicError, "another operation of the atomic request failed")))
      }
    }
  }

  /// Combines the errors of earlier checks with the outcomes of the store, in the order of the
  /// request.
  ///
  /// - Parameter outcomes: the outcomes of the operations that had not failed before, in their
  ///   order.
  private static func answers(
    to operations: [Result<RecordOperation, FailedItem>], _ outcomes: [RecordOutcome]
  ) -> [Result<RecordsResponse.Item, FailedItem>] {
    var remaining = outcomes[...]
    return operations.map { operation in
      operation.flatMap { operation in
        switch remaining.popFirst() {
        case .saved(let record):
          return .success(.record(record))
        case .deleted(let recordID):
          return .success(.deleted(recordID))
        case .failed(let failure):
          return .failure(
            FailedItem(
              .record(operation.recordID),
              ServiceError(failure)))
        case nil:
          return .failure(
            FailedItem(
              .record(operation.recordID),
              ServiceError(.internalError, "the store returned no result for this operation")))
        }
      }
    }
  }
}
