import CloudKit
import Foundation
import Testing

/// A protocol that apps declare so that tests can replace CloudKit's database.
protocol NoteDatabase {
  func save(_ record: CKRecord, completionHandler: @escaping (CKRecord?, Error?) -> Void)
  func save(_ record: CKRecord) async throws -> CKRecord
  func record(for recordID: CKRecord.ID) async throws -> CKRecord
  func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID
  func fetch(
    withRecordID recordID: CKRecord.ID,
    completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void)
  func records(
    matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?, desiredKeys: [CKRecord.FieldKey]?,
    resultsLimit: Int
  ) async throws -> (
    matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?
  )
  func modifyRecords(
    saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool
  ) async throws -> (
    saveResults: [CKRecord.ID: Result<CKRecord, Error>],
    deleteResults: [CKRecord.ID: Result<Void, Error>]
  )
  func add(_ operation: CKDatabaseOperation)
  var databaseScope: CKDatabase.Scope { get }
}

extension CKDatabase: NoteDatabase {}

/// The same for containers.
protocol NoteContainer {
  func accountStatus() async throws -> CKAccountStatus
  func accountStatus(completionHandler: @escaping (CKAccountStatus, Error?) -> Void)
  func userRecordID() async throws -> CKRecord.ID
  func add(_ operation: CKOperation)
}

extension CKContainer: NoteContainer {}

struct PatternTests {
  private static let container = CKContainer(identifier: "iCloud.com.example.unconfigured")

  @Test("A database conforms to an app's own protocol as it is")
  func protocols() async {
    let database: any NoteDatabase = Self.container.privateCloudDatabase
    #expect(database.databaseScope == .private)
    await #expect(throws: CKError.self) {
      try await database.save(CKRecord(recordType: "Note"))
    }
    let container: any NoteContainer = Self.container
    await #expect(throws: CKError.self) { try await container.userRecordID() }
  }

  @Test("An operation's subclass has initializers of its own and prepares itself in main")
  func subclasses() {
    final class Upload: CKModifyRecordsOperation, @unchecked Sendable {
      let names: [String]
      init(names: [String]) {
        self.names = names
        super.init()
        name = "upload"
      }
      override init() {
        names = []
        super.init()
      }
      override func main() {
        recordsToSave = names.map {
          CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: $0))
        }
        super.main()
      }
    }
    let upload = Upload(names: ["a", "b"])
    upload.configuration.container = Self.container
    let queue = OperationQueue()
    queue.addOperations([upload], waitUntilFinished: true)
    #expect(upload.recordsToSave?.count == 2 && upload.isFinished && upload.name == "upload")
    #expect(Upload().names.isEmpty)
  }

  @Test("A mock operation answers instead of a server")
  func mockOperation() {
    final class Mock: CKQueryOperation, @unchecked Sendable {
      override func start() {
        queryResultBlock?(.success(nil))
        completionBlock?()
      }
    }
    let mock = Mock()
    nonisolated(unsafe) var isAnswered = false
    mock.queryResultBlock = { _ in isAnswered = true }
    mock.start()
    #expect(isAnswered)
  }

  @Test("A task may wait for an operation with a semaphore, however many do")
  func blockedTasks() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let semaphore = DispatchSemaphore(value: 0)
          let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "r")])
          operation.configuration.container = Self.container
          operation.fetchRecordsResultBlock = { _ in semaphore.signal() }
          operation.start()
          Self.wait(for: semaphore)
        }
      }
    }
  }

  private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

  @Test(
    "Operations on one queue wait for those they depend on, and end when the queue is cancelled")
  func dependencies() {
    let first = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
    let second = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
    for operation in [first, second] as [CKDatabaseOperation] {
      operation.database = Self.container.privateCloudDatabase
    }
    second.addDependency(first)
    let queue = OperationQueue()
    // An operation that has ended by itself is cancelled no more.
    queue.isSuspended = true
    queue.addOperation(second)
    queue.addOperation(first)
    queue.cancelAllOperations()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(first.isFinished && second.isFinished && first.isCancelled)
  }

  @Test("A change token is nil at first, kept as data, and dropped when it has expired")
  func changeToken() {
    let defaults: [String: Data] = [:]
    let token = defaults["token"].flatMap {
      try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: $0)
    }
    let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
    operation.fetchDatabaseChangesResultBlock = { result in
      if case .failure(CKError.changeTokenExpired) = result { _ = defaults }
    }
    #expect(operation.previousServerChangeToken == nil)
  }

  @Test("A flag in the defaults is set by key-value coding")
  func defaults() throws {
    let defaults = try #require(UserDefaults(suiteName: "petrel-source-compatibility"))
    defaults.setValue(true, forKey: "subscribed")
    #expect(defaults.bool(forKey: "subscribed"))
    defaults.removeObject(forKey: "subscribed")
  }

  @Test("A retry waits as long as the error says")
  func retry() {
    let error: any Error = CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: 3])
    guard let error = error as? CKError, let seconds = error.retryAfterSeconds else {
      Issue.record("no delay")
      return
    }
    #expect(seconds == 3)
  }
}
