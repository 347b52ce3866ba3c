import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

struct RecordOperationTests {
  /// Answers `records/modify` with what `answer` makes of each operation.
  private func modifying(
    _ answer: @escaping @Sendable (RecordOperation) -> Result<RecordsResponse.Item, ServiceError>
  ) -> ScriptedTransport.Script {
    { request, _ in
      guard
        let parsed = try? ModifyRecordsRequest(
          parsing: request.body ?? Data(), context: serverContext)
      else { return .error(ServiceError(.badRequest, "not a modification")) }
      let records = parsed.operations.map { operation in
        operation.flatMap { operation in
          answer(operation).mapError {
            FailedItem(
              .record(
                recordName: operation.recordID.recordName, zoneID: operation.recordID.zoneID), $0)
          }
        }
      }
      return .ok(RecordsResponse(records: records).body(context: serverContext))
    }
  }

  private static func saved(
    _ operation: RecordOperation
  ) -> Result<RecordsResponse.Item, ServiceError> {
    switch operation.kind {
    case .delete, .forceDelete:
      return .success(.deleted(operation.recordID))
    default:
      var record = Record(
        recordID: operation.recordID, recordType: operation.recordType ?? "T",
        recordChangeTag: "next")
      record.fields = operation.fields.compactMapValues { $0 }
      return .success(.record(record))
    }
  }

  private func fetched(_ name: String, tag: String = "a") -> CKRecord {
    CKRecord(
      Record(
        recordID: RecordID(recordName: name), recordType: "T", recordChangeTag: tag,
        fields: ["kept": .int64(1), "changed": .int64(1), "removed": .int64(1)]))
  }

  // MARK: Save policies

  @Test("A new record is created with all its fields")
  func create() throws {
    let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "n"))
    record["f"] = 1
    let operation = try RecordOperation(saving: record, policy: .ifServerRecordUnchanged)
    #expect(operation.kind == .create)
    #expect(operation.recordType == "T")
    #expect(operation.recordChangeTag == nil)
    #expect(operation.fields == ["f": .int64(1)])
  }

  @Test("A fetched record is updated under its tag with what changed")
  func update() throws {
    let record = fetched("n")
    record["changed"] = 2
    record["removed"] = nil
    let operation = try RecordOperation(saving: record, policy: .ifServerRecordUnchanged)
    #expect(operation.kind == .update)
    #expect(operation.recordChangeTag == "a")
    #expect(operation.fields == ["changed": .int64(2), "removed": nil])
    #expect(operation.parent == nil)
  }

  @Test("changedKeys forces what changed, allKeys all fields, removals included")
  func force() throws {
    let record = fetched("n")
    record["changed"] = 2
    record["removed"] = nil
    let changed = try RecordOperation(saving: record, policy: .changedKeys)
    #expect(changed.kind == .forceUpdate)
    #expect(changed.recordChangeTag == nil)
    #expect(changed.fields == ["changed": .int64(2), "removed": nil])
    let all = try RecordOperation(saving: record, policy: .allKeys)
    #expect(all.kind == .forceUpdate)
    #expect(all.fields == ["kept": .int64(1), "changed": .int64(2), "removed": nil])
  }

  @Test("The parent is sent when it was changed")
  func parent() throws {
    let record = fetched("n")
    record.setParent(CKRecord.ID(recordName: "p"))
    let set = try RecordOperation(saving: record, policy: .ifServerRecordUnchanged)
    #expect(set.parent??.recordName == "p")
    record.setParent(nil as CKRecord.ID?)
    let removed = try RecordOperation(saving: record, policy: .ifServerRecordUnchanged)
    #expect(removed.parent == .some(nil))
  }

  // MARK: Modifying

  @available(*, deprecated)
  @Test("Saves and deletions report by item, then together")
  func modify() throws {
    let transport = ScriptedTransport(modifying(Self.saved))
    let operation = CKModifyRecordsOperation(
      recordsToSave: [fetched("a")], recordIDsToDelete: [CKRecord.ID(recordName: "b")])
    let calls = Guarded<[String]>([])
    operation.perRecordProgressBlock = { calls.append("progress \($0.recordID.recordName) \($1)") }
    operation.perRecordSaveBlock = {
      calls.append("saved \($0.recordName) \($1.value?.recordChangeTag ?? "-")")
    }
    operation.perRecordCompletionBlock = {
      calls.append("old \($0.recordChangeTag ?? "-") \($1 == nil)")
    }
    operation.perRecordDeleteBlock = { calls.append("deleted \($0.recordName) \($1.error == nil)") }
    operation.modifyRecordsResultBlock = { calls.append("result \($0.error == nil)") }
    operation.modifyRecordsCompletionBlock = { saved, deleted, error in
      calls.append("old \(saved?.count ?? -1) \(deleted?.count ?? -1) \(error == nil)")
    }
    CKContainer.scripted(transport).privateCloudDatabase.add(operation)
    operation.waitUntilFinished()
    #expect(
      calls.current == [
        "progress a 1.0", "saved a next", "old next true", "deleted b true", "result true",
        "old 1 1 true",
      ])
    let request = try #require(transport.requests.first)
    let sent = try ModifyRecordsRequest(
      parsing: try #require(request.body), context: serverContext)
    #expect(request.operation == "records/modify")
    #expect(sent.isAtomic)
    #expect(try sent.operations.map { try $0.get().kind } == [.update, .forceDelete])
  }

  @available(*, deprecated)
  @Test("Errors of items go to their blocks, and together only to the old completion block")
  func itemErrors() {
    let server = Record(
      recordID: RecordID(recordName: "a"), recordType: "T", recordChangeTag: "newer")
    let script = modifying { operation in
      switch operation.recordID.recordName {
      case "a": .failure(ServiceError(.conflict, "changed", serverRecord: server))
      case "b": .failure(ServiceError(.atomicError, "another failed"))
      default: .failure(ServiceError(.accessDenied, "not yours"))
      }
    }
    let records = [fetched("a"), fetched("b")]
    let operation = CKModifyRecordsOperation(
      recordsToSave: records, recordIDsToDelete: [CKRecord.ID(recordName: "c")])
    let errors = Guarded<[String: CKError]>([:])
    operation.perRecordSaveBlock = { recordID, result in
      errors.withLock { $0[recordID.recordName] = result.error as? CKError }
    }
    operation.perRecordDeleteBlock = { recordID, result in
      errors.withLock { $0[recordID.recordName] = result.error as? CKError }
    }
    let outcome = Guarded<(Bool, CKError?)>((false, nil))
    operation.modifyRecordsResultBlock = { result in
      outcome.withLock { $0.0 = result.error == nil }
    }
    operation.modifyRecordsCompletionBlock = { _, _, error in
      outcome.withLock { $0.1 = error as? CKError }
    }
    CKContainer.scripted(script).privateCloudDatabase.add(operation)
    operation.waitUntilFinished()
    let found = errors.current
    #expect(
      found.mapValues(\.code) == [
        "a": .serverRecordChanged, "b": .batchRequestFailed, "c": .permissionFailure,
      ])
    #expect(found["a"]?.clientRecord === records[0])
    #expect(found["a"]?.serverRecord?.recordChangeTag == "newer")
    #expect(outcome.current.0)
    let partial = outcome.current.1
    #expect(partial?.code == .partialFailure)
    let byItem = partial?.partialErrorsByItemID
    #expect(byItem?.count == 3)
    #expect((byItem?[CKRecord.ID(recordName: "c")] as? CKError)?.code == .permissionFailure)
  }

  @Test(
    "A record that cannot be sent fails the other items of its custom zone, if the operation is atomic"
  )
  func unsendable() {
    let zone = CKRecordZone.ID(zoneName: "Notes")
    let bad = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "bad", zoneID: zone))
    bad["f"] = UInt64.max
    let good = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "good", zoneID: zone))
    let elsewhere = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "elsewhere"))
    for isAtomic in [true, false] {
      let transport = ScriptedTransport(modifying(Self.saved))
      let operation = CKModifyRecordsOperation(recordsToSave: [good, bad, elsewhere])
      operation.isAtomic = isAtomic
      let codes = Guarded<[String: CKError.Code?]>([:])
      operation.perRecordSaveBlock = { recordID, result in
        codes.withLock { $0[recordID.recordName] = .some((result.error as? CKError)?.code) }
      }
      CKContainer.scripted(transport).privateCloudDatabase.add(operation)
      operation.waitUntilFinished()
      #expect(
        codes.current
          == [
            "bad": .invalidArguments, "good": isAtomic ? .batchRequestFailed : nil,
            "elsewhere": nil,
          ])
      #expect(transport.requests.count == 1)
    }
  }

  @Test(
    "In the default zone a record that cannot be sent fails alone, and nothing is sent without one")
  func unsendableInDefaultZone() {
    let bad = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "bad"))
    bad["f"] = UInt64.max
    let good = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "good"))
    for (records, requests) in [([good, bad], 1), ([bad], 0)] {
      let transport = ScriptedTransport(modifying(Self.saved))
      let operation = CKModifyRecordsOperation(recordsToSave: records)
      let failed = Guarded<[String]>([])
      operation.perRecordSaveBlock = { recordID, result in
        if result.error != nil { failed.append(recordID.recordName) }
      }
      CKContainer.scripted(transport).privateCloudDatabase.add(operation)
      operation.waitUntilFinished()
      #expect(failed.current == ["bad"])
      #expect(transport.requests.count == requests)
    }
  }

  @Test("An operation with nothing to do succeeds without a request")
  func nothing() {
    let transport = ScriptedTransport { _, _ in .silence }
    let operation = CKModifyRecordsOperation()
    let results = Guarded<[Bool]>([])
    operation.modifyRecordsResultBlock = { results.append($0.error == nil) }
    CKContainer.scripted(transport).privateCloudDatabase.add(operation)
    operation.waitUntilFinished()
    #expect(results.current == [true])
    #expect(transport.requests.isEmpty)
  }

  @Test("More than 400 items give limitExceeded")
  func limit() {
    let script: ScriptedTransport.Script = { request, _ in
      do throws(ServiceError) {
        _ = try ModifyRecordsRequest(parsing: request.body ?? Data(), context: serverContext)
        return .ok(Data())
      } catch {
        return .error(error)
      }
    }
    let operation = CKModifyRecordsOperation(
      recordIDsToDelete: (0...400).map { CKRecord.ID(recordName: "\($0)") })
    let errors = Guarded<[CKError?]>([])
    operation.modifyRecordsResultBlock = { errors.append($0.error as? CKError) }
    CKContainer.scripted(script).privateCloudDatabase.add(operation)
    operation.waitUntilFinished()
    #expect(errors.current.map { $0?.code } == [.limitExceeded])
    #expect(errors.current.first??.localizedDescription.contains("400") == true)
  }

  @Test(
    "A patient save whose answer was lost is sent again under the same request ID, others are not",
    arguments: [QualityOfService.utility, .background, .default, .userInitiated])
  func lostAnswers(qualityOfService: QualityOfService) throws {
    let save = modifying(Self.saved)
    let transport = ScriptedTransport { request, index in
      index == 0 ? .failure(TransportFailure(.answerLost, "lost")) : save(request, index)
    }
    let operation = CKModifyRecordsOperation(recordsToSave: [fetched("a")])
    operation.qualityOfService = qualityOfService
    let errors = Guarded<[CKError?]>([])
    operation.modifyRecordsResultBlock = { errors.append($0.error as? CKError) }
    CKContainer.scripted(transport).privateCloudDatabase.add(operation)
    operation.waitUntilFinished()
    let isPatient = qualityOfService == .utility || qualityOfService == .background
    let requestIDs = try transport.requests.map {
      try ModifyRecordsRequest(parsing: try #require($0.body), context: serverContext).requestID
    }
    #expect(requestIDs == (isPatient ? [operation.operationID, operation.operationID] : [nil]))
    #expect(errors.current.map { $0?.code } == [isPatient ? nil : .serverResponseLost])
  }

  // MARK: Fetching

  @Test("Records come by their IDs; a missing one is an unknown item")
  func fetch() async throws {
    let script: ScriptedTransport.Script = { request, _ in
      let missing = FailedItem(
        .record(recordName: "b", zoneID: nil), ServiceError(.notFound, "no such record"))
      let record = Record(recordID: RecordID(recordName: "a"), recordType: "T")
      return .ok(
        RecordsResponse(records: [.success(.record(record)), .failure(missing)])
          .body(context: serverContext))
    }
    let transport = ScriptedTransport(script)
    let ids = ["a", "b"].map { CKRecord.ID(recordName: $0) }
    let results = try await CKContainer.scripted(transport).privateCloudDatabase
      .records(for: ids, desiredKeys: ["f"])
    #expect(try results[ids[0]]?.get().recordID == ids[0])
    #expect((results[ids[1]]?.error as? CKError)?.code == .unknownItem)
    let sent = try LookupRecordsRequest(
      parsing: try #require(transport.requests.first?.body), context: serverContext)
    #expect(sent.desiredKeys == ["f"])
  }

  @Test("The current user's record is looked up by the user's name")
  func currentUser() throws {
    let transport = ScriptedTransport { request, index in
      request.operation == "users/caller"
        ? .ok(UserResponse(userRecordName: "_me").body) : OperationTests.found(request, index)
    }
    let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
    let names = Guarded<[String]>([])
    operation.perRecordResultBlock = { recordID, _ in names.append(recordID.recordName) }
    CKContainer.scripted(transport).publicCloudDatabase.add(operation)
    operation.waitUntilFinished()
    #expect(names.current == ["_me"])
    #expect(transport.requests.map(\.operation) == ["users/caller", "records/lookup"])
  }

  // MARK: Queries

  @Test("A query goes on from its cursor with the same query and zone")
  func cursor() async throws {
    let transport = ScriptedTransport { _, index in
      let record = Record(recordID: RecordID(recordName: "\(index)"), recordType: "T")
      return .ok(
        RecordsResponse(
          records: [.success(.record(record))], continuationMarker: index == 0 ? "more" : nil
        ).body(context: serverContext))
    }
    let database = CKContainer.scripted(transport).privateCloudDatabase
    let query = CKQuery(recordType: "T", predicate: NSPredicate(format: "n > %@", 3))
    let first = try await database.records(
      matching: query, inZoneWith: CKRecordZone.ID(zoneName: "Z"), resultsLimit: 1)
    let second = try await database.records(
      continuingMatchFrom: try #require(first.queryCursor), resultsLimit: 2)
    #expect(first.matchResults.map(\.0.recordName) == ["0"])
    #expect(second.matchResults.map(\.0.recordName) == ["1"])
    #expect(second.queryCursor == nil)
    let sent = try transport.requests.map {
      try QueryRecordsRequest(parsing: try #require($0.body), context: serverContext)
    }
    #expect(sent.map(\.continuationMarker) == [nil, "more"])
    #expect(sent.map(\.resultsLimit) == [1, 2])
    #expect(sent[0].query == sent[1].query)
    #expect(sent.map { $0.zoneID?.zoneName } == ["Z", "Z"])
  }

  @Test("A predicate that CloudKit does not support fails before anything is sent")
  func unsupported() async throws {
    let transport = ScriptedTransport { _, _ in .silence }
    let query = CKQuery(recordType: "T", predicate: NSPredicate { _, _ in true })
    let error = try await #require(throws: CKError.self) {
      _ = try await CKContainer.scripted(transport).publicCloudDatabase.records(matching: query)
    }
    #expect(error.code == .invalidArguments)
    #expect(transport.requests.isEmpty)
  }

  @available(*, deprecated)
  @Test("The old forms of a query give the records, or the error")
  func oldQuery() async throws {
    let transport = ScriptedTransport { _, _ in
      let record = Record(recordID: RecordID(recordName: "a"), recordType: "T")
      return .ok(RecordsResponse(records: [.success(.record(record))]).body(context: serverContext))
    }
    let database = CKContainer.scripted(transport).publicCloudDatabase
    let query = CKQuery(recordType: "T", predicate: NSPredicate(value: true))
    let names = try await withCheckedThrowingContinuation { continuation in
      database.perform(query, inZoneWith: nil) { records, error in
        continuation.resume(
          with: records.map { .success($0.map(\.recordID.recordName)) }
            ?? .failure(error ?? CKError(.internalError)))
      }
    }
    #expect(names == ["a"])
    let records: [CKRecord] = try await database.records(matching: query, inZoneWith: nil)
    #expect(records.count == 1)
    #expect(try await database.perform(query, inZoneWith: nil).map(\.recordID.recordName) == names)
    // A query without a zone searches them all.
    let sent = try QueryRecordsRequest(
      parsing: try #require(transport.requests.first?.body), context: serverContext)
    #expect(sent.zoneID == nil)
  }

  // MARK: Convenience

  @Test("Methods for one record give its own error")
  func single() async throws {
    let script = modifying { _ in .failure(ServiceError(.quotaExceeded, "full")) }
    let database = CKContainer.scripted(script).privateCloudDatabase
    let record = fetched("a")
    let error = try await #require(throws: CKError.self) { try await database.save(record) }
    #expect(error.code == .quotaExceeded)
    let old = await withCheckedContinuation { continuation in
      database.save(record) { saved, error in
        continuation.resume(returning: (saved == nil, (error as? CKError)?.code))
      }
    }
    #expect(old == (true, .quotaExceeded))
  }

  @Test(
    "An atomic modification throws when an item of a custom zone fails, others give each item's result"
  )
  func atomically() async throws {
    let script = modifying { operation in
      operation.recordID.recordName == "a"
        ? .failure(ServiceError(.accessDenied, "no")) : Self.saved(operation)
    }
    let database = CKContainer.scripted(script).privateCloudDatabase
    let notes = CKRecordZone.ID(zoneName: "Notes")
    let inZone = ["a", "b"].map {
      CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: $0, zoneID: notes))
    }
    let error = try await #require(throws: CKError.self) {
      try await database.modifyRecords(saving: inZone, deleting: [])
    }
    #expect(error.code == .partialFailure)
    #expect(error.partialErrorsByItemID?.count == 1)
    // The default zone has no atomic changes.
    for (records, isAtomic) in [(inZone, false), ([fetched("a"), fetched("b")], true)] {
      let (saves, deletions) = try await database.modifyRecords(
        saving: records, deleting: [CKRecord.ID(recordName: "c")], atomically: isAtomic)
      #expect(saves.count == 2)
      #expect((saves[records[0].recordID]?.error as? CKError)?.code == .permissionFailure)
      #expect(try saves[records[1].recordID]?.get().recordChangeTag == "next")
      #expect(deletions.count == 1)
    }
  }

  @Test("Cancelling a task cancels its operation")
  func cancellation() async throws {
    let sent = AsyncStream.makeStream(of: Void.self)
    let transport = ScriptedTransport { _, _ in
      sent.continuation.yield()
      return .silence
    }
    let database = CKContainer.scripted(transport).privateCloudDatabase
    let task = Task { try await database.record(for: CKRecord.ID(recordName: "a")) }
    for await _ in sent.stream { break }
    task.cancel()
    let error = try await #require(throws: CKError.self) { try await task.value }
    #expect(error.code == .operationCancelled)
  }

  @Test("Zones of other owners keep their names in the shared database only")
  func owners() async throws {
    let transport = ScriptedTransport { request, _ in
      guard let body = request.body,
        let lookup = try? LookupRecordsRequest(
          parsing: body, context: MessageContext(ownerNaming: .explicit))
      else { return .error(ServiceError(.badRequest, "?")) }
      let record = Record(recordID: lookup.recordIDs[0], recordType: "T")
      return .ok(
        RecordsResponse(records: [.success(.record(record))])
          .body(context: MessageContext(ownerNaming: .relative(to: "_me"))))
    }
    let container = CKContainer.scripted(transport)
    let foreign = CKRecord.ID(
      recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Z", ownerName: "_other"))
    let own = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Z"))
    let shared = try await container.sharedCloudDatabase.record(for: foreign)
    let `private` = try await container.privateCloudDatabase.record(for: own)
    #expect(shared.recordID == foreign)
    #expect(`private`.recordID == own)
  }
}
