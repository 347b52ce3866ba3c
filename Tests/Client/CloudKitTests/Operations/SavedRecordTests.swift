import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

/// Tests of the records that a program passed to a save, after the save.
struct SavedRecordTests {
  /// Answers each save with the tags `1`, `2` and so on, and runs `meanwhile` before.
  private func database(
    meanwhile: @escaping @Sendable () -> Void = {}
  ) -> (CKDatabase, ScriptedTransport) {
    let transport = ScriptedTransport { request, index in
      meanwhile()
      guard
        let parsed = try? ModifyRecordsRequest(
          parsing: request.body ?? Data(), context: serverContext)
      else { return .error(ServiceError(.badRequest, "not a modification")) }
      let records: [Result<RecordsResponse.Item, FailedItem>] = parsed.operations.map { operation in
        operation.map { operation in
          var record = Record(
            recordID: operation.recordID, recordType: operation.recordType ?? "T",
            recordChangeTag: "\(index + 1)")
          record.fields = operation.fields.compactMapValues { $0 }
          return .record(record)
        }
      }
      return .ok(RecordsResponse(records: records).body(context: serverContext))
    }
    return (CKContainer.scripted(transport).privateCloudDatabase, transport)
  }

  /// Returns the first operation of a request.
  private func operation(_ number: Int, of transport: ScriptedTransport) throws -> RecordOperation {
    let body = try #require(transport.requests[number].body)
    let request = try ModifyRecordsRequest(parsing: body, context: serverContext)
    return try #require(try request.operations.first?.get())
  }

  @Test("One object is changed and saved several times")
  func again() async throws {
    let (database, transport) = database()
    let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "n"))
    record["a"] = 1
    let saved = try await database.save(record)
    #expect(saved !== record && saved.recordChangeTag == "1")
    #expect(record.recordChangeTag == "1" && record.changedKeys().isEmpty)
    record["b"] = 2
    try await database.save(record)
    #expect(record.recordChangeTag == "2" && saved.recordChangeTag == "1")
    let second = try operation(1, of: transport)
    #expect(second.kind == .update && second.recordChangeTag == "1")
    #expect(second.fields == ["b": .int64(2)])
  }

  @Test("A field that is set during a save is part of the next save")
  func meanwhile() async throws {
    let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "n"))
    let (database, transport) = database {
      if record.recordChangeTag == nil { record["b"] = 2 }
    }
    record["a"] = 1
    try await database.save(record)
    #expect(record["b"] == 2 && record.recordChangeTag == "1")
    #expect(record.changedKeys() == ["a", "b"])
    try await database.save(record)
    let second = try operation(1, of: transport)
    #expect(second.fields == ["a": .int64(1), "b": .int64(2)])
    #expect(record.changedKeys().isEmpty)
  }

  @Test("A record keeps a share that is not saved yet")
  func unsavedShare() async throws {
    let (database, _) = database()
    let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "n"))
    let share = CKShare(rootRecord: record)
    try await database.save(record)
    #expect(record.share?.recordID == share.recordID && record.recordChangeTag == "1")
  }

  @Test("A record that could not be saved stays as it was")
  func failed() async throws {
    let transport = ScriptedTransport { _, _ in .error(ServiceError(.badRequest, "no")) }
    let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "n"))
    record["a"] = 1
    await #expect(throws: CKError.self) {
      try await CKContainer.scripted(transport).privateCloudDatabase.save(record)
    }
    #expect(record.recordChangeTag == nil && record.changedKeys() == ["a"])
  }
}
