import CloudKitModel
import Foundation
import StoreModel
import WebServices

/// `records/modify`, `records/lookup` and `records/query`.
struct RecordsEndpoint: Sendable {
  let records: any RecordReading & RecordWriting
  let accounts: any AccountReading
  let schemas: any SchemaReading
  let signatures: any SignatureStore
  let zones: any ZoneStore
  let databases: DatabaseDirectory
  let links: AssetLinks

  init(of store: any Store, databases: DatabaseDirectory, links: AssetLinks) {
    records = store.records
    accounts = store.accounts
    schemas = store.schemas
    signatures = store.credentials
    zones = store.zones
    self.databases = databases
    self.links = links
  }

  /// Keeps its answers to requests that may come again, and so uses a signature up by itself.
  static let modifyName = "records/modify"

  var operations: [Operation] {
    [
      Operation(
        Self.modifyName, of: .anyDatabase, for: .accounts, .changes, modify,
        .init(
          "Records", "Save and delete records", answer: "One item for each operation, in order.")),
      Operation(
        "records/query", of: .anyDatabase, for: .everyone, .reads, query,
        .init(
          "Records", "Find records by their fields",
          """
          A query finds the records that the caller may read. A field that a filter or a sort names needs an \
          option of the schema that allows it (docs/schema.md).
          """, answer: "A page of records.")),
      Operation(
        "records/lookup", of: .anyDatabase, for: .everyone, .reads, lookup,
        .init(
          "Records", "Fetch records by their names", answer: "One item for each name, in order.")),
    ]
  }

  private func modify(
    _ request: ModifyRecordsRequest, _ context: RequestContext
  ) async throws -> RecordsResponse {
    let origin = try context.origin()
    try Self.checkSize(of: request)
    let database = try await databases.database(at: try context.address())
    var operations = request.operations.map { $0.flatMap(SharesEndpoint.check) }
    if request.isAtomic { operations = Self.failingTogether(operations) }
    var requestID = request.requestID
    if let signature = context.credentials.signature, requestID == nil {
      // A record without a name gets another each time, so that two equal requests may be meant.
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

  private func modification(
    _ request: ModifyRecordsRequest, _ operations: [Result<RecordOperation, FailedItem>],
    _ origin: ChangeOrigin, requestID: String?, in database: DatabaseID, _ context: RequestContext
  ) -> RecordModification {
    var modification = RecordModification(
      // Those that failed already have their answers.
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

  private func lookup(
    _ request: LookupRecordsRequest, _ context: RequestContext
  ) async throws -> RecordsResponse {
    let database = try await databases.database(at: try context.address())
    let found = try await records.records(request.recordIDs, in: database)
    let access = try await access(
      to: Set(found.compactMap { $0?.recordType }), in: database, context)
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
      let isDefaultZone = recordID.zoneID.isDefaultZone
      if isDefaultZone, try await hasUserRecord(recordID.recordName, context) {
        items.append(.success(.record(Self.userRecord(recordID))))
        continue
      }
      if !isDefaultZone, zones == nil {
        zones = Set(try await self.zones.zones(in: database).map(\.zoneID))
      }
      let error =
        isDefaultZone || zones?.contains(recordID.zoneID) ?? true
        ? ServiceError(.notFound, "record '\(recordID)' does not exist")
        : ServiceError(.zoneNotFound, "zone '\(recordID.zoneID)' does not exist")
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

  private func query(
    _ request: QueryRecordsRequest, _ context: RequestContext
  ) async throws -> RecordsResponse {
    let database = try await databases.database(at: try context.address())
    let query = RecordQuery(
      query: request.query, zoneID: request.zoneID,
      limit: ServiceLimits.pageSize(askedFor: request.resultsLimit),
      continuation: request.continuationMarker, caller: context.caller)
    let page = try await page(matching: query, in: database, context)
    var response = RecordsResponse(
      records: try await links.linked(
        page.records.map { .success(.record($0)) }, in: database),
      continuationMarker: page.continuation)
    response.detail = RecordDetail(
      desiredKeys: request.desiredKeys, numbersAsStrings: request.numbersAsStrings)
    return response
  }

  private static func checkSize(of request: ModifyRecordsRequest) throws(ServiceError) {
    var size = 0
    for case .success(let operation) in request.operations { size += operation.approximateSize }
    let limit = ServiceLimits.recordsSizePerRequest
    // A single record that is too large is named by its own error.
    guard size > limit, request.operations.count > 1 else { return }
    throw ServiceError(
      .badRequest,
      "operations: the records have \(size) bytes together; the limit is \(limit) per request",
      limit: limit)
  }

  /// Whether the name is that of a user whose record the database has: the caller's own, and in the
  /// public database everyone's.
  private func hasUserRecord(_ name: String, _ context: RequestContext) async throws -> Bool {
    if name == context.caller.userRecordName { return true }
    guard try context.scope() == .public, name.hasPrefix("_") else { return false }
    return try await accounts.user(withRecordName: name) != nil
  }

  /// A user's record exists from the beginning, without fields.
  private static func userRecord(_ recordID: RecordID) -> Record {
    Record(recordID: recordID, recordType: "Users")
  }

  /// When an operation of an atomic request cannot be read, the others in its zone must not be
  /// carried out either.
  private static func failingTogether(
    _ operations: [Result<RecordOperation, FailedItem>]
  ) -> [Result<RecordOperation, FailedItem>] {
    guard operations.contains(where: { if case .failure = $0 { true } else { false } }) else {
      return operations
    }
    return operations.map { operation in
      operation.flatMap { operation in
        // In the default zone each operation stands alone.
        if operation.recordID.zoneID.isDefaultZone { return .success(operation) }
        return .failure(
          FailedItem(
            .record(operation.recordID),
            ServiceError(.atomicError, "another operation of the atomic request failed")))
      }
    }
  }

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
              ServiceError(.internalError, "the store gave no outcome for this operation")))
        }
      }
    }
  }
}
