import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

/// A killed process is a copy of its folder: what the disk held at that moment.
struct LongLivedOperationTests {
  private func container(
    _ state: String, token: String = "t", _ script: @escaping ScriptedTransport.Script
  ) -> CKContainer {
    container(state, token: token, ScriptedTransport(script))
  }

  private func container(
    _ state: String, token: String = "t", _ transport: ScriptedTransport
  ) -> CKContainer {
    CKContainer(
      identifier: "iCloud.test",
      configuration: PetrelConfiguration(
        serverURL: URL(string: "http://petrel.test")!, webAuthToken: token, deviceID: "device",
        stateDirectory: URL(fileURLWithPath: state)),
      transport: transport)
  }

  /// Saves the records of each request.
  private static let saving: ScriptedTransport.Script = { request, _ in
    guard
      let modify = try? ModifyRecordsRequest(
        parsing: request.body ?? Data(), context: serverContext)
    else { return .error(ServiceError(.badRequest, "not a modification")) }
    let answers = modify.operations.map { operation in
      operation.map { operation in
        RecordsResponse.Item.record(
          Record(recordID: operation.recordID, recordType: "T", recordChangeTag: "next"))
      }
    }
    return .ok(RecordsResponse(records: answers).body(context: serverContext))
  }

  private func save(_ names: String...) -> CKModifyRecordsOperation {
    let operation = CKModifyRecordsOperation(
      recordsToSave: names.map {
        let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: $0))
        record["title"] = $0
        return record
      })
    operation.configuration.isLongLived = true
    return operation
  }

  /// Adds an operation and waits for the names that were saved and the error of the whole.
  private func run(
    _ operation: CKModifyRecordsOperation, in container: CKContainer
  ) -> (saved: [String], error: CKError?) {
    let saved = Guarded<[String]>([])
    let errors = Guarded<[CKError?]>([])
    operation.perRecordSaveBlock = { recordID, result in
      if result.error == nil { saved.append(recordID.recordName) }
    }
    operation.modifyRecordsResultBlock = { errors.append($0.error as? CKError) }
    container.add(operation)
    operation.waitUntilFinished()
    return (saved.current, errors.current.first ?? nil)
  }

  private func wait(for operation: CKOperation) { operation.waitUntilFinished() }

  @Test("One is on disk before its request is sent, and gone when its blocks have returned")
  func life() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let calls = Guarded<[String]>([])
      let container = container(folder) { request, index in
        calls.append("request")
        return Self.saving(request, index)
      }
      let operation = save("a")
      let operationID = operation.operationID
      operation.longLivedOperationWasPersistedBlock = {
        calls.append("persisted")
        let done = DispatchSemaphore(value: 0)
        container.fetchAllLongLivedOperationIDs { operationIDs, error in
          #expect(operationIDs == [operationID] && error == nil)
          done.signal()
        }
        done.wait()
      }
      #expect(run(operation, in: container).saved == ["a"])
      #expect(calls.current == ["persisted", "request"])
      #expect(try await container.allLongLivedOperationIDs() == [])
      #expect(try await container.longLivedOperation(for: operationID) == nil)
    }
  }

  @Test("An operation that is not long-lived is not kept")
  func shortLived() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let operation = save("a")
      operation.configuration.isLongLived = false
      operation.longLivedOperationWasPersistedBlock = { Issue.record("it was kept") }
      #expect(run(operation, in: container(folder, Self.saving)).saved == ["a"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
  }

  @Test("Killed before the answer, it goes on under its ID with the same request")
  func killedBeforeAnswer() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let before = ScriptedTransport { request, index in
        copy(folder + "/now", to: folder + "/killed")
        return Self.saving(request, index)
      }
      let operation = save("a", "b")
      operation.savePolicy = .allKeys
      operation.isAtomic = false
      operation.configuration.qualityOfService = .utility
      operation.configuration.timeoutIntervalForRequest = 7
      operation.group = CKOperationGroup()
      operation.group?.name = "upload"
      _ = run(operation, in: container(folder + "/now", before))

      let after = ScriptedTransport(Self.saving)
      let container = container(folder + "/killed", after)
      #expect(try await container.allLongLivedOperationIDs() == [operation.operationID])
      let found = try await container.longLivedOperation(for: operation.operationID)
      let resumed = try #require(found as? CKModifyRecordsOperation)
      #expect(resumed.operationID == operation.operationID)
      #expect(resumed.recordsToSave?.map(\.recordID.recordName) == ["a", "b"])
      #expect(resumed.savePolicy == .allKeys && !resumed.isAtomic)
      #expect(resumed.configuration.isLongLived)
      #expect(resumed.configuration.qualityOfService == .utility)
      #expect(resumed.configuration.timeoutIntervalForRequest == 7)
      #expect(resumed.group?.name == "upload")
      #expect(resumed.group?.operationGroupID == operation.group?.operationGroupID)
      #expect(resumed.database?.databaseScope == .private)
      #expect(run(resumed, in: container).saved == ["a", "b"])
      #expect(after.requests.map(\.body) == before.requests.map(\.body))
      #expect(try await container.allLongLivedOperationIDs() == [])
    }
  }

  @available(*, deprecated)
  @Test("Killed while its blocks are called, it calls them again without asking the server")
  func killedInBlocks() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let operation = save("a")
      operation.modifyRecordsCompletionBlock = { _, _, _ in
        copy(folder + "/now", to: folder + "/killed")
      }
      _ = run(operation, in: container(folder + "/now", Self.saving))
      let transport = ScriptedTransport { _, _ in .error(ServiceError(.internalError, "asked")) }
      let container = container(folder + "/killed", transport)
      let found = try await container.longLivedOperation(for: operation.operationID)
      let outcome = run(try #require(found as? CKModifyRecordsOperation), in: container)
      #expect(outcome.saved == ["a"] && outcome.error == nil)
      #expect(transport.requests.isEmpty)
    }
  }

  @available(*, deprecated)
  @Test("An operation that failed as a whole is told to have failed, with the time to wait")
  func failure() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let operation = save("a")
      operation.modifyRecordsCompletionBlock = { _, _, _ in
        copy(folder + "/now", to: folder + "/killed")
      }
      _ = run(
        operation,
        in: container(folder + "/now") { _, _ in
          .error(ServiceError(.throttled, "slow down", retryAfter: 3))
        })
      let container = container(folder + "/killed", Self.saving)
      let found = try await container.longLivedOperation(for: operation.operationID)
      let outcome = run(try #require(found as? CKModifyRecordsOperation), in: container)
      #expect(outcome.saved == [])
      #expect(outcome.error?.code == .requestRateLimited)
      #expect(outcome.error?.retryAfterSeconds == 3)
      #expect(outcome.error?.localizedDescription == "slow down")
    }
  }

  @Test("A conflict after a restart has the three records")
  func conflict() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let record = CKRecord(
        Record(
          recordID: RecordID(recordName: "a"), recordType: "T", recordChangeTag: "1",
          fields: ["n": .int64(1), "pin": .string("1234")], encryptedFields: ["pin"]))
      record["n"] = 3
      let operation = CKModifyRecordsOperation(recordsToSave: [record])
      operation.configuration.isLongLived = true
      _ = run(
        operation,
        in: container(folder + "/now") { request, index in
          copy(folder + "/now", to: folder + "/killed")
          return Self.saving(request, index)
        })
      let container = container(folder + "/killed") { _, _ in
        let failed = FailedItem(
          .record(recordName: "a", zoneID: .default),
          ServiceError(
            .conflict, "changed",
            serverRecord: Record(
              recordID: RecordID(recordName: "a"), recordType: "T", recordChangeTag: "2",
              fields: ["n": .int64(2)])))
        return .ok(RecordsResponse(records: [.failure(failed)]).body(context: serverContext))
      }
      let found = try await container.longLivedOperation(for: operation.operationID)
      let resumed = try #require(found as? CKModifyRecordsOperation)
      #expect(resumed.recordsToSave?.first?.changedKeys() == ["n"])
      let errors = Guarded<[CKError?]>([])
      resumed.perRecordSaveBlock = { errors.append($1.error as? CKError) }
      container.add(resumed)
      wait(for: resumed)
      let error = try #require(errors.current.first ?? nil)
      #expect(error.code == .serverRecordChanged)
      #expect(error.clientRecord?["n"] as Int? == 3)
      #expect(error.serverRecord?["n"] as Int? == 2)
      #expect(error.ancestorRecord?["n"] as Int? == 1)
      #expect(error.ancestorRecord?.encryptedValues["pin"] as String? == "1234")
      #expect(error.ancestorRecord?["pin"] as String? == nil)
    }
  }

  @Test("All kinds of operations come back as they were")
  func kinds() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let zoneID = CKRecordZone.ID(zoneName: "Z")
      let fetch = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
      fetch.desiredKeys = ["x"]
      let query = CKQueryOperation(
        query: CKQuery(recordType: "T", predicate: NSPredicate(format: "n > 3")))
      query.zoneID = zoneID
      query.resultsLimit = 5
      let cursor = CKQueryOperation(
        cursor: .init(query: Query(recordType: "T"), zoneID: nil, continuationMarker: "m"))
      let changes = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zoneID],
        configurationsByRecordZoneID: [
          zoneID: .init(previousServerChangeToken: nil, resultsLimit: 3, desiredKeys: ["x"])
        ])
      let operations: [CKDatabaseOperation] = [
        fetch, .current, query, cursor,
        CKModifyRecordZonesOperation(
          recordZonesToSave: [CKRecordZone(zoneID: zoneID)], recordZoneIDsToDelete: [zoneID]),
        CKFetchRecordZonesOperation(recordZoneIDs: [zoneID]), .allZones,
        CKModifySubscriptionsOperation(
          subscriptionsToSave: [
            CKDatabaseSubscription(subscriptionID: "d"),
            CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "z"),
            CKSubscription(CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "first")),
          ], subscriptionIDsToDelete: ["old"]),
        CKFetchSubscriptionsOperation(subscriptionIDs: ["s"]), .allSubscriptions,
        CKModifyRecordsOperation(recordIDsToDelete: [CKRecord.ID(recordName: "a")]),
        CKFetchDatabaseChangesOperation(previousServerChangeToken: nil), changes,
      ]
      for operation in operations {
        let sent = Guarded<[Data?]>([])
        operation.configuration.isLongLived = true
        let first = container(folder + "/now") { request, _ in
          copy(folder + "/now", to: folder + "/\(operation.operationID)")
          sent.append(request.body)
          return .error(ServiceError(.internalError, "no"))
        }
        first.sharedCloudDatabase.add(operation)
        wait(for: operation)
        let second = container(folder + "/\(operation.operationID)") { request, _ in
          sent.append(request.body)
          return .error(ServiceError(.internalError, "no"))
        }
        let found = try await second.longLivedOperation(for: operation.operationID)
        let resumed = try #require(found as? CKDatabaseOperation, "\(operation)")
        #expect(type(of: resumed) == type(of: operation))
        #expect(resumed.database?.databaseScope == .shared)
        second.add(resumed)
        wait(for: resumed)
        #expect(sent.current.count == 2 && sent.current[0] == sent.current[1], "\(operation)")
      }
    }
  }

  @Test("An operation that runs cannot be run beside itself")
  func beside() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let sent = AsyncStream.makeStream(of: Void.self)
      let container = container(folder) { _, _ in
        sent.continuation.yield()
        return .silence
      }
      let operation = save("a")
      container.add(operation)
      for await _ in sent.stream { break }
      let found = try await container.longLivedOperation(for: operation.operationID)
      let second = try #require(found as? CKModifyRecordsOperation)
      let outcome = run(second, in: container)
      #expect(outcome.error?.code == .serviceUnavailable)
      #expect(outcome.error?.retryAfterSeconds == 5)
      #expect(try await container.allLongLivedOperationIDs() == [operation.operationID])
      operation.cancel()
      wait(for: operation)
      #expect(try await container.allLongLivedOperationIDs() == [])
    }
  }

  @Test("One that was fetched and is over by now is not run again")
  func overSince() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let transport = ScriptedTransport { request, index in
        if index == 0 { copy(folder + "/now", to: folder + "/killed") }
        return Self.saving(request, index)
      }
      let operation = save("a")
      _ = run(operation, in: container(folder + "/now", transport))
      let container = container(folder + "/killed", transport)
      let first = try await container.longLivedOperation(for: operation.operationID)
      let second = try await container.longLivedOperation(for: operation.operationID)
      #expect(run(try #require(first as? CKModifyRecordsOperation), in: container).saved == ["a"])
      let outcome = run(try #require(second as? CKModifyRecordsOperation), in: container)
      #expect(outcome.error?.code == .unknownItem)
      #expect(transport.requests.count == 2)
    }
  }

  @Test("Other users, and other folders, do not see it")
  func identities() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let operation = save("a")
      _ = run(
        operation,
        in: container(folder + "/now") { request, index in
          copy(folder + "/now", to: folder + "/killed")
          return Self.saving(request, index)
        })
      let other = container(folder + "/killed", token: "other", Self.saving)
      #expect(try await other.allLongLivedOperationIDs() == [])
      #expect(try await other.longLivedOperation(for: operation.operationID) == nil)
      let same = container(folder + "/killed", Self.saving)
      #expect(try await same.longLivedOperation(for: "../\(operation.operationID)") == nil)
      #expect(try await same.allLongLivedOperationIDs() == [operation.operationID])
    }
  }

  @Test("A damaged file is left out of the list, and fetching it names the file")
  func damaged() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let operation = save("a")
      _ = run(
        operation,
        in: container(folder + "/now") { request, index in
          copy(folder + "/now", to: folder + "/killed")
          return Self.saving(request, index)
        })
      let container = container(folder + "/killed", Self.saving)
      let store = try container.client.get().longLivedOperations
      let file = try #require(store.folder(of: operation.operationID)) + "/operation"
      var content = try #require(FileManager.default.contents(atPath: file))
      content[content.count / 2] ^= 0x20
      try content.write(to: URL(fileURLWithPath: file))
      #expect(try await container.allLongLivedOperationIDs() == [])
      let error = await #expect(throws: CKError.self) {
        try await container.longLivedOperation(for: operation.operationID)
      }
      #expect(error?.localizedDescription.contains(file) == true)
      // Whole, but of no known kind.
      try SealedFile.seal(Data("nonsense".utf8), as: .operation, at: file)
      await #expect(throws: CKError.self) {
        try await container.longLivedOperation(for: operation.operationID)
      }
    }
  }

  @Test("Outcomes are kept for a day and unfinished operations for a week")
  func expiry() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let store = LongLivedOperationStore(directory: folder + "/operations")
      func keep(days: Double, isOver: Bool) throws -> CKOperation.ID {
        let operationID = UUID().uuidString
        let journal = try store.begin(operationID, content: Data("x".utf8))
        if isOver { journal.keepEnd(nil) }
        let date = Date(timeIntervalSinceNow: -days * 24 * 60 * 60)
        for file in try FileManager.default.contentsOfDirectory(
          atPath: try #require(store.folder(of: operationID)))
        {
          try FileManager.default.setAttributes(
            [.modificationDate: date],
            ofItemAtPath: try #require(store.folder(of: operationID)) + "/" + file)
        }
        return operationID
      }
      let kept = [
        try keep(days: 6.9, isOver: false), try keep(days: 0.9, isOver: true),
      ]
      let dropped = [
        try keep(days: 7.1, isOver: false), try keep(days: 1.1, isOver: true),
      ]
      #expect(store.operationIDs() == kept)
      for operationID in dropped { #expect(try store.content(of: operationID) == nil) }
    }
  }

  @Test("More than a thousand are refused")
  func bound() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let store = LongLivedOperationStore(directory: folder)
      for _ in 0..<LongLivedOperationStore.Limits.operations {
        let path = folder + "/" + UUID().uuidString
        try FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: path + "/operation"))
      }
      let error = #expect(throws: CKError.self) {
        try store.begin(UUID().uuidString, content: Data())
      }
      #expect(error?.code == .limitExceeded)
    }
  }

  @Test("Where nothing can be kept, a long-lived operation fails and says why")
  func noFolder() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      try Data().write(to: URL(fileURLWithPath: folder + "/file"))
      let outcome = run(save("a"), in: container(folder + "/file", Self.saving))
      #expect(outcome.error?.code == .internalError)
      #expect(outcome.error?.localizedDescription.contains("PETREL_STATE") == true)
    }
  }
}

/// Copies a folder as it is now.
private func copy(_ folder: String, to other: String) {
  try? FileManager.default.removeItem(atPath: other)
  do {
    try FileManager.default.copyItem(atPath: folder, toPath: other)
  } catch {
    Issue.record(error)
  }
}

extension CKDatabaseOperation {
  fileprivate static var current: CKDatabaseOperation {
    CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
  }

  fileprivate static var allZones: CKDatabaseOperation {
    CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
  }

  fileprivate static var allSubscriptions: CKDatabaseOperation {
    CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
  }
}
