import CloudKit
import Foundation
import Testing

/// A protocol that apps declare so that tests can replace CloudKit's database.
protocol NoteDatabase {
  func save(_ record: CKRecord, completionHandler: @escaping (CKRecord?, Error?) -> Void)
  func save(_ record: CKRecord) async throws -> CKRecord
  func fetch(
    withQuery query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?,
    desiredKeys: [CKRecord.FieldKey]?, resultsLimit: Int,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            matchResults: [(CKRecord.ID, Result<CKRecord, Error>)],
            queryCursor: CKQueryOperation.Cursor?
          ), Error
        >
      ) -> Void)
}

extension CKDatabase: NoteDatabase {}

struct Swift5Tests {
  private final class Store {
    var records: [CKRecord] = []
    var errors: [Error] = []
  }

  private static let container = CKContainer(identifier: "iCloud.com.example.unconfigured")

  @Test("Blocks change what is around them, as code did before strict concurrency")
  func captures() {
    let store = Store()
    let semaphore = DispatchSemaphore(value: 0)
    Self.container.privateCloudDatabase.fetch(withRecordID: CKRecord.ID(recordName: "r")) {
      record, error in
      if let record = record { store.records.append(record) }
      if let error = error { store.errors.append(error) }
      semaphore.signal()
    }
    semaphore.wait()
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "name = %@", "Ada"))
    Self.container.privateCloudDatabase.fetch(withQuery: query) { result in
      if case .failure(let error) = result { store.errors.append(error) }
      semaphore.signal()
    }
    semaphore.wait()
    #expect(store.records.isEmpty && store.errors.count == 2)
    #expect(store.errors.allSatisfy { $0 is CKError })
  }

  @Test("Subclasses override what they need")
  func subclasses() {
    class Mock: CKModifyRecordsOperation, @unchecked Sendable {
      var saved: [CKRecord] = []
      override init() {
        super.init()
        savePolicy = .changedKeys
      }
      override func start() {
        saved = recordsToSave ?? []
        modifyRecordsResultBlock?(.success(()))
      }
    }
    let mock = Mock()
    mock.recordsToSave = [CKRecord(recordType: "Note")]
    var isDone = false
    mock.modifyRecordsResultBlock = { _ in isDone = true }
    mock.start()
    #expect(isDone && mock.saved.count == 1 && mock.savePolicy == .changedKeys)
  }
}
