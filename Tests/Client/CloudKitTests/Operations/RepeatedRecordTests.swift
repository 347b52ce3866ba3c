import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

/// Operations in which a record stands twice.
struct RepeatedRecordTests {
  private let transport = ScriptedTransport { _, _ in .silence }

  private func record(_ name: String) -> CKRecord {
    CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: name))
  }

  /// The saves, the deletions, and the beginning of the error's text.
  private var refused: [([CKRecord], [CKRecord.ID], String)] {
    let same = record("a")
    return [
      ([same, record("b"), same], [], "You can't save the same record twice: "),
      ([record("a"), record("a")], [], "You can't save the same record twice: "),
      (
        [record("b"), record("a")], [CKRecord.ID(recordName: "a")],
        "You can't save and delete the same record ("
      ),
      (
        [], [CKRecord.ID(recordName: "a"), CKRecord.ID(recordName: "a")],
        "You can't delete the same record ("
      ),
    ]
  }

  @Test(
    "A record that stands twice fails the method, and nothing is sent", arguments: [true, false])
  func method(isAtomic: Bool) async throws {
    let database = CKContainer.scripted(transport).privateCloudDatabase
    for (records, recordIDs, text) in refused {
      let error = try await #require(throws: CKError.self) {
        try await database.modifyRecords(saving: records, deleting: recordIDs, atomically: isAtomic)
      }
      #expect(error.code == .invalidArguments)
      #expect(error.localizedDescription.hasPrefix(text))
      #expect(error.localizedDescription.contains("'a in "))
    }
    #expect(transport.requests.isEmpty)
  }

  @available(*, deprecated)
  @Test("A record that stands twice fails the operation, without a call of an item's block")
  func operation() {
    for (records, recordIDs, _) in refused {
      let calls = Guarded<[String]>([])
      let operation = CKModifyRecordsOperation(
        recordsToSave: records, recordIDsToDelete: recordIDs)
      operation.perRecordProgressBlock = { _, _ in calls.append("progress") }
      operation.perRecordSaveBlock = { _, _ in calls.append("save") }
      operation.perRecordCompletionBlock = { _, _ in calls.append("old save") }
      operation.perRecordDeleteBlock = { _, _ in calls.append("deletion") }
      operation.modifyRecordsResultBlock = {
        calls.append(($0.error as? CKError)?.code.caseName ?? "success")
      }
      operation.modifyRecordsCompletionBlock = {
        calls.append(($2 as? CKError)?.code.caseName ?? "-")
      }
      CKContainer.scripted(transport).privateCloudDatabase.add(operation)
      operation.waitUntilFinished()
      #expect(calls.current == ["invalidArguments", "invalidArguments"])
    }
    #expect(transport.requests.isEmpty)
  }

  @Test("Records with one name in two zones are different")
  func zones() {
    let zoneID = CKRecordZone.ID(zoneName: "Notes")
    let operation = CKModifyRecordsOperation(
      recordsToSave: [record("a")],
      recordIDsToDelete: [CKRecord.ID(recordName: "a", zoneID: zoneID)])
    let errors = Guarded<[CKError.Code?]>([])
    operation.modifyRecordsResultBlock = { errors.append(($0.error as? CKError)?.code) }
    let script: ScriptedTransport.Script = { _, _ in .error(ServiceError(.zoneBusy, "busy")) }
    CKContainer.scripted(script).privateCloudDatabase.add(operation)
    operation.waitUntilFinished()
    #expect(errors.current == [.zoneBusy])
  }
}
