import CloudKit
import Foundation
import Testing

/// Every method of a database, in every form. There is no server here, so all of them end with an
/// error of CloudKit's, on a background queue.
struct DatabaseTests {
  private let container = CKContainer(identifier: "iCloud.com.example.unconfigured")
  private var database: CKDatabase { container.privateCloudDatabase }
  private let record = CKRecord(recordType: "Note")
  private let zone = CKRecordZone(zoneName: "Work")
  private let subscription = CKDatabaseSubscription(subscriptionID: "s")
  private let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))

  /// The error that a completion handler of two arguments gets, with no value beside it.
  private func error<Value>(
    _ start: (@escaping (Value?, (any Error)?) -> Void) -> Void
  ) async -> CKError? {
    await withCheckedContinuation { continuation in
      start { value, error in
        continuation.resume(returning: value == nil ? error as? CKError : nil)
      }
    }
  }

  /// The error that a handler of a result gets.
  private func failure<Value>(
    of start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) async -> CKError? {
    await withCheckedContinuation { continuation in
      start { result in
        if case .failure(let error) = result {
          continuation.resume(returning: error as? CKError)
        } else {
          continuation.resume(returning: nil)
        }
      }
    }
  }

  @Test("Methods for one item, with completion handlers")
  func singleItemsWithHandlers() async {
    let database = database
    let id = record.recordID
    let errors = [
      await error { database.fetch(withRecordID: id, completionHandler: $0) },
      await error { database.save(record, completionHandler: $0) },
      await error { database.delete(withRecordID: id, completionHandler: $0) },
      await error { database.fetch(withRecordZoneID: zone.zoneID, completionHandler: $0) },
      await error { database.save(zone, completionHandler: $0) },
      await error { database.delete(withRecordZoneID: zone.zoneID, completionHandler: $0) },
      await error { database.fetchAllRecordZones(completionHandler: $0) },
      await error { database.fetch(withSubscriptionID: "s", completionHandler: $0) },
      await error { database.save(subscription, completionHandler: $0) },
      await error { database.delete(withSubscriptionID: "s", completionHandler: $0) },
      await error { database.fetchAllSubscriptions(completionHandler: $0) },
    ]
    #expect(errors.allSatisfy { $0 != nil })
    database.fetch(withRecordID: id) { record, error in _ = (record, error) }
  }

  @Test("Methods for one item, async")
  func singleItems() async {
    let database = database
    let id = record.recordID
    await #expect(throws: CKError.self) { try await database.record(for: id) }
    await #expect(throws: CKError.self) { try await database.save(record) }
    await #expect(throws: CKError.self) { try await database.deleteRecord(withID: id) }
    await #expect(throws: CKError.self) { try await database.recordZone(for: zone.zoneID) }
    await #expect(throws: CKError.self) { try await database.save(zone) }
    await #expect(throws: CKError.self) { try await database.deleteRecordZone(withID: zone.zoneID) }
    await #expect(throws: CKError.self) { try await database.allRecordZones() }
    await #expect(throws: CKError.self) { try await database.subscription(for: "s") }
    await #expect(throws: CKError.self) { try await database.save(subscription) }
    await #expect(throws: CKError.self) { try await database.deleteSubscription(withID: "s") }
    await #expect(throws: CKError.self) { try await database.allSubscriptions() }
  }

  @Test("Methods for several items, with handlers of a result")
  func severalItemsWithHandlers() async {
    let database = database
    let ids = [record.recordID]
    let zoneIDs = [zone.zoneID]
    let errors = [
      await failure(of: { database.fetch(withRecordIDs: ids, completionHandler: $0) }),
      await failure(of: {
        database.fetch(withRecordIDs: ids, desiredKeys: ["a"], completionHandler: $0)
      }),
      await failure(of: {
        database.modifyRecords(saving: [record], deleting: ids, completionHandler: $0)
      }),
      await failure(of: {
        database.modifyRecords(
          saving: [record], deleting: [], savePolicy: .allKeys, atomically: false,
          completionHandler: $0)
      }),
      await failure(of: { database.fetch(withQuery: query, completionHandler: $0) }),
      await failure(of: {
        database.fetch(
          withQuery: query, inZoneWith: zone.zoneID, desiredKeys: [], resultsLimit: 3,
          completionHandler: $0)
      }),
      await failure(of: { database.fetch(withRecordZoneIDs: zoneIDs, completionHandler: $0) }),
      await failure(of: {
        database.modifyRecordZones(saving: [zone], deleting: zoneIDs, completionHandler: $0)
      }),
      await failure(of: { database.fetch(withSubscriptionIDs: ["s"], completionHandler: $0) }),
      await failure(of: {
        database.modifySubscriptions(
          saving: [subscription], deleting: ["o"], completionHandler: $0)
      }),
      await failure(of: { database.fetchDatabaseChanges(since: nil, completionHandler: $0) }),
      await failure(of: {
        database.fetchDatabaseChanges(since: nil, resultsLimit: 5, completionHandler: $0)
      }),
      await failure(of: {
        database.fetchRecordZoneChanges(
          inZoneWith: zone.zoneID, since: nil, completionHandler: $0)
      }),
      await failure(of: {
        database.fetchRecordZoneChanges(
          inZoneWith: zone.zoneID, since: nil, desiredKeys: ["a"], resultsLimit: 5,
          completionHandler: $0)
      }),
    ]
    #expect(errors.allSatisfy { $0 != nil })
  }

  @Test("Methods for several items, async")
  func severalItems() async {
    let database = database
    let ids = [record.recordID]
    await #expect(throws: CKError.self) { _ = try await database.records(for: ids) }
    await #expect(throws: CKError.self) {
      let results: [CKRecord.ID: Result<CKRecord, any Error>] = try await database.records(
        for: ids, desiredKeys: ["a"])
      _ = results
    }
    await #expect(throws: CKError.self) {
      let (saveResults, deleteResults) = try await database.modifyRecords(
        saving: [record], deleting: ids)
      _ = (saveResults[ids[0]], deleteResults[ids[0]])
    }
    await #expect(throws: CKError.self) {
      _ = try await database.modifyRecords(
        saving: [record], deleting: [], savePolicy: .changedKeys, atomically: false)
    }
    await #expect(throws: CKError.self) {
      let (matchResults, queryCursor) = try await database.records(matching: query)
      for (id, result) in matchResults { _ = (id, try result.get()) }
      if let queryCursor {
        let next = try await database.records(continuingMatchFrom: queryCursor)
        _ = (next.matchResults, next.queryCursor)
      }
    }
    await #expect(throws: CKError.self) {
      _ = try await database.records(
        matching: query, inZoneWith: zone.zoneID, desiredKeys: nil, resultsLimit: 1)
    }
    await #expect(throws: CKError.self) { _ = try await database.recordZones(for: [zone.zoneID]) }
    await #expect(throws: CKError.self) {
      _ = try await database.modifyRecordZones(saving: [zone], deleting: [])
    }
    await #expect(throws: CKError.self) { _ = try await database.subscriptions(for: ["s"]) }
    await #expect(throws: CKError.self) {
      _ = try await database.modifySubscriptions(saving: [subscription], deleting: [])
    }
    await #expect(throws: CKError.self) {
      let changes = try await database.databaseChanges(since: nil, resultsLimit: nil)
      let modified: [CKDatabase.DatabaseChange.Modification] = changes.modifications
      let deleted: [CKDatabase.DatabaseChange.Deletion] = changes.deletions
      for deletion in deleted {
        switch deletion.reason {
        case .deleted, .purged, .encryptedDataReset: _ = deletion.zoneID
        }
      }
      _ = (modified.map(\.zoneID), changes.changeToken, changes.moreComing)
    }
    await #expect(throws: CKError.self) {
      let changes = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
      for (id, result) in changes.modificationResultsByID {
        let modification: CKDatabase.RecordZoneChange.Modification = try result.get()
        _ = (id, modification.record)
      }
      let deletions: [CKDatabase.RecordZoneChange.Deletion] = changes.deletions
      _ = (deletions.map(\.recordID), deletions.map(\.recordType))
      _ = (changes.changeToken, changes.moreComing)
    }
  }

  @available(*, deprecated)
  @Test("The deprecated forms of a query")
  func deprecatedQueries() async {
    let database = database
    let failed = await error {
      database.perform(query, inZoneWith: nil, completionHandler: $0)
    }
    #expect(failed != nil)
    await #expect(throws: CKError.self) {
      let records: [CKRecord] = try await database.records(
        matching: query, inZoneWith: zone.zoneID)
      _ = records
    }
    func purged(_ deletion: CKDatabase.DatabaseChange.Deletion) -> Bool { deletion.purged }
  }

  @Test("A container has an identifier and three databases")
  func databases() {
    #expect(container.containerIdentifier == "iCloud.com.example.unconfigured")
    #expect(container.publicCloudDatabase.databaseScope == .public)
    #expect(container.privateCloudDatabase.databaseScope == .private)
    #expect(container.sharedCloudDatabase.databaseScope == .shared)
    #expect(container.database(with: .shared) === container.sharedCloudDatabase)
    #expect(CKContainer.default() === CKContainer.default())
  }

  @Test("The container's methods on the account")
  func account() async {
    let container = container
    #expect(await error { container.fetchUserRecordID(completionHandler: $0) } != nil)
    await #expect(throws: CKError.self) { try await container.userRecordID() }
    let status = await withCheckedContinuation { continuation in
      container.accountStatus { status, error in
        continuation.resume(returning: (status, error as? CKError))
      }
    }
    #expect(status.0 == .couldNotDetermine && status.1 != nil)
    await #expect(throws: CKError.self) { try await container.accountStatus() }
    #expect(Notification.Name.CKAccountChanged.rawValue == "CKAccountChangedNotification")
  }

  @Test("Operations are added to databases and containers")
  func adding() async {
    let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
    let failed = await withCheckedContinuation { continuation in
      operation.fetchRecordZonesResultBlock = { result in
        if case .failure(let error) = result {
          continuation.resume(returning: error as? CKError)
        } else {
          continuation.resume(returning: nil)
        }
      }
      database.add(operation)
    }
    #expect(failed != nil && operation.database === database)
    let other = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
    let ended = DispatchGroup()
    ended.enter()
    other.completionBlock = { ended.leave() }
    container.add(other)
    await withCheckedContinuation { continuation in
      ended.notify(queue: .global()) { continuation.resume() }
    }
    #expect(other.isFinished)
  }

  @Test("Long-lived operations are asked for in both forms")
  func longLivedOperations() async {
    let ids = await error { (completion: @escaping ([CKOperation.ID]?, (any Error)?) -> Void) in
      container.fetchAllLongLivedOperationIDs(completionHandler: completion)
    }
    #expect(ids != nil)
    let operation = await error { (completion: @escaping (CKOperation?, (any Error)?) -> Void) in
      container.fetchLongLivedOperation(withID: "o", completionHandler: completion)
    }
    #expect(operation != nil)
    await #expect(throws: CKError.self) {
      let ids: [CKOperation.ID] = try await container.allLongLivedOperationIDs()
      for id in ids {
        if let operation = try await container.longLivedOperation(for: id) {
          container.add(operation)
        }
      }
    }
    await #expect(throws: CKError.self) { try await container.longLivedOperation(for: "o") == nil }
  }

  @Test("configuredWith gives a database or container to a closure and returns its result")
  func configured() async throws {
    let configuration = CKOperation.Configuration()
    configuration.qualityOfService = .utility
    let group = CKOperationGroup()
    #expect(database.configuredWith { $0.databaseScope } == .private)
    let scope = database.configuredWith(configuration: configuration, group: group) {
      $0.databaseScope
    }
    #expect(scope == .private)
    let record = record
    await #expect(throws: CKError.self) {
      try await database.configuredWith(configuration: configuration) { database in
        try await database.save(record)
      }
    }
    let name = container.configuredWith(group: group) { $0.containerIdentifier }
    #expect(name == container.containerIdentifier)
    let same = await container.configuredWith { container in
      await Task.yield()
      return container.containerIdentifier
    }
    #expect(same == name)
  }
}
