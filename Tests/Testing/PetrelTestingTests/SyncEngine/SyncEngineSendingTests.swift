import CloudKit
import PetrelTesting
import SyncDevices
import Synchronization
import Testing
import Waiting

/// The sends of a sync engine, asked for by the app.
struct SyncEngineSendingTests {
  private let cloud: TestCloud
  private let phone: SyncDevice
  private let tablet: SyncDevice

  init() async throws {
    cloud = try await TestCloud()
    phone = SyncDevice(cloud.container(user: "anna", device: "phone").privateCloudDatabase)
    tablet = SyncDevice(cloud.container(user: "anna", device: "tablet").privateCloudDatabase)
    phone.start()
    tablet.start()
  }

  private func sent(_ device: SyncDevice) -> [CKSyncEngine.Event.SentRecordZoneChanges] {
    device.events.compactMap { if case .sentRecordZoneChanges(let sent) = $0 { sent } else { nil } }
  }

  @Test("the sign-in comes first, its zone is saved before the first record, in one send")
  func first() async throws {
    phone.edit(["a": "1", "b": "2"])
    try await phone.engine.sendChanges()
    #expect(
      phone.eventNames == [
        "accountChange", "willSendChanges", "sentDatabaseChanges", "sentRecordZoneChanges",
        "didSendChanges",
      ])
    #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
    try await tablet.engine.fetchChanges()
    #expect(tablet.titles == ["a": "1", "b": "2"])
    #expect(
      tablet.eventNames == [
        "accountChange", "willFetchChanges", "fetchedDatabaseChanges",
        "willFetchRecordZoneChanges", "fetchedRecordZoneChanges", "didFetchRecordZoneChanges",
        "didFetchChanges",
      ])
    tablet.clear()
    try await tablet.engine.sendChanges()
    #expect(tablet.eventNames == ["willSendChanges", "sentDatabaseChanges", "didSendChanges"])
  }

  @Test("600 pending saves are three batches, and no record is sent twice")
  func batches() async throws {
    let titles = (0..<600).reduce(into: [:]) { $0["n\($1)"] = "t\($1)" }
    phone.edit(titles)
    try await phone.engine.sendChanges()
    #expect(sent(phone).map(\.savedRecords.count) == [250, 250, 100])
    #expect(Set(sent(phone).flatMap(\.savedRecords).map(\.recordID)).count == 600)
    try await tablet.engine.fetchChanges()
    #expect(tablet.titles == titles)
  }

  @Test("records whose bytes do not fit into one request are several batches")
  func bytes() async throws {
    let title = String(repeating: "x", count: 700_000)
    phone.edit(["a": title, "b": title, "c": title])
    try await phone.engine.sendChanges()
    #expect(sent(phone).map(\.savedRecords.count) == [2, 1])
  }

  @Test("a batch that is too large or not in the scope is not sent at all")
  func refusedBatches() async throws {
    try await phone.engine.sendChanges()
    for (count, scope, code) in [
      (251, .all, CKError.Code.limitExceeded),
      (2, .recordIDs([phone.id("n0")]), .invalidArguments),
      (1, .allExcluding([phone.zoneID]), .invalidArguments),
    ] as [(Int, CKSyncEngine.SendChangesOptions.Scope, CKError.Code)] {
      let zoneID = phone.zoneID
      phone.batch.withLock {
        $0 = { _, _ in
          .init(
            recordsToSave: (0..<count).map {
              CKRecord(
                recordType: "Note", recordID: CKRecord.ID(recordName: "n\($0)", zoneID: zoneID))
            })
        }
      }
      phone.clear()
      let error = await syncError { try await phone.engine.sendChanges(.init(scope: scope)) }
      #expect(error?.code == code)
      #expect(sent(phone).flatMap(\.failedRecordSaves).count == count)
      #expect(phone.eventNames.last == "didSendChanges")
    }
    try await tablet.engine.fetchChanges()
    #expect(tablet.titles.isEmpty)
  }

  @Test("a batch in which a record stands twice is not sent at all")
  func repeatedRecords() async throws {
    try await phone.engine.sendChanges()
    let recordID = phone.id("a")
    let record = CKRecord(recordType: "Note", recordID: recordID)
    for (records, recordIDs) in [([record, record], []), ([record], [recordID])] {
      phone.batch.withLock {
        $0 = { _, _ in .init(recordsToSave: records, recordIDsToDelete: recordIDs) }
      }
      phone.clear()
      let error = await syncError { try await phone.engine.sendChanges() }
      #expect(error?.code == .invalidArguments)
      #expect(sent(phone).flatMap(\.failedRecordSaves).count == records.count)
      #expect(sent(phone).flatMap(\.failedRecordDeletes).count == recordIDs.count)
    }
    try await tablet.engine.fetchChanges()
    #expect(tablet.titles.isEmpty)
  }

  @Test("a scope limits what is sent, and the rest stays pending")
  func scopes() async throws {
    phone.edit(["a": "1", "b": "2"])
    try await phone.engine.sendChanges(.init(scope: .zoneIDs([phone.zoneID])))
    phone.edit(["a": "3", "b": "4"])
    try await phone.engine.sendChanges(.init(scope: .recordIDs([phone.id("b")])))
    #expect(phone.engine.state.pendingRecordZoneChanges == [.saveRecord(phone.id("a"))])
    try await tablet.engine.fetchChanges()
    #expect(tablet.titles == ["a": "1", "b": "4"])
  }

  @Test("a conflict brings the server's record, and only the merged change is pending")
  func conflict() async throws {
    phone.edit(["a": "1", "b": "1"])
    try await phone.engine.sendChanges()
    try await tablet.engine.fetchChanges()
    tablet.edit(["a": "5"])
    try await tablet.engine.sendChanges()
    phone.edit(["a": "9", "b": "2"])
    phone.clear()
    let error = await syncError { try await phone.engine.sendChanges() }
    #expect(error?.code == .partialFailure)
    let item = error?.partialErrorsByItemID?[phone.id("a")] as? CKError
    #expect(item?.code == .serverRecordChanged && item?.serverRecord?["title"] as? String == "5")
    #expect(phone.engine.state.pendingRecordZoneChanges == [.saveRecord(phone.id("a"))])
    #expect(sent(phone).first?.savedRecords.map(\.recordID) == [phone.id("b")])
    try await phone.engine.sendChanges()
    try await tablet.engine.fetchChanges()
    #expect(tablet.titles == ["a": "9", "b": "2"])
  }

  @Test("an atomic batch with a conflict changes nothing, and nothing of it is pending")
  func atomic() async throws {
    phone.edit(["a": "1"])
    try await phone.engine.sendChanges()
    try await tablet.engine.fetchChanges()
    tablet.edit(["a": "2"])
    try await tablet.engine.sendChanges()
    let (old, id) = (phone.id("a"), phone.id("b"))
    let stale = try #require(phone.state.withLock { $0.records[old] })
    phone.batch.withLock {
      $0 = { _, _ in
        stale["title"] = "0"
        return .init(
          recordsToSave: [stale, CKRecord(recordType: "Note", recordID: id)], atomicByZone: true)
      }
    }
    phone.edit(["a": "0", "b": "x"])
    phone.clear()
    _ = await syncError { try await phone.engine.sendChanges() }
    let failures = sent(phone).flatMap(\.failedRecordSaves)
    #expect(
      failures.reduce(into: [:]) { $0[$1.record.recordID.recordName] = $1.error.code } == [
        "a": .serverRecordChanged, "b": .batchRequestFailed,
      ])
    #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
  }

  @Test("zones that were added while a batch was handled are saved before the next batch")
  func addedZones() async throws {
    try await phone.engine.sendChanges()
    phone.edit((0..<300).reduce(into: [:]) { $0["n\($1)"] = "t" })
    phone.onEvent.withLock {
      $0 = { event, engine in
        guard case .sentRecordZoneChanges = event else { return }
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "second"))])
      }
    }
    phone.clear()
    try await phone.engine.sendChanges()
    #expect(
      phone.eventNames == [
        "willSendChanges", "sentRecordZoneChanges", "sentDatabaseChanges",
        "sentRecordZoneChanges", "sentDatabaseChanges", "didSendChanges",
      ])
  }

  @Test(
    "what failed for a reason that passes is pending again, and in the event",
    arguments: [
      TestFault.networkLoss, .rateLimited(), .serviceUnavailable(), .zoneBusy(),
      .authenticationExpired, .answerLost,
    ])
  func passing(fault: TestFault) async throws {
    try await phone.engine.sendChanges()
    phone.edit(["a": "1"])
    cloud.fail(next: fault, operation: .modifyRecords)
    phone.clear()
    let error = await syncError { try await phone.engine.sendChanges() }
    #expect(error != nil)
    #expect(sent(phone).flatMap(\.failedRecordSaves).map(\.record.recordID) == [phone.id("a")])
    #expect(phone.engine.state.pendingRecordZoneChanges == [.saveRecord(phone.id("a"))])
    _ = await syncError { try await phone.engine.sendChanges() }
    #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
    try await tablet.engine.fetchChanges()
    #expect(tablet.titles == ["a": "1"])
  }

  @Test("until the server accepts requests again, a call fails at once with the server's error")
  func throttle() async throws {
    try await phone.engine.sendChanges()
    phone.edit(["a": "1"])
    cloud.fail(next: .serviceUnavailable(retryAfter: 1), operation: .modifyRecords)
    _ = await syncError { try await phone.engine.sendChanges() }
    phone.clear()
    let error = await syncError { try await phone.engine.fetchChanges() }
    #expect(error?.code == .serviceUnavailable)
    let seconds = try #require(error?.retryAfterSeconds)
    #expect(seconds > 0 && seconds <= 1)
    #expect(phone.eventNames.isEmpty)
    try await eventually("the server accepts requests") {
      await syncError { try await phone.engine.sendChanges() } == nil
    }
    #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
  }

  @Test("a change that is added again in flight is sent again")
  func inFlight() async throws {
    try await phone.engine.sendChanges()
    phone.edit(["a": "1"])
    let isFirst = Mutex(true)
    phone.onEvent.withLock {
      $0 = { [phone] event, _ in
        guard case .sentRecordZoneChanges = event else { return }
        let edits = isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        if edits { phone.edit(["a": "2"]) }
      }
    }
    try await phone.engine.sendChanges()
    #expect(sent(phone).count == 2)
    try await tablet.engine.fetchChanges()
    #expect(tablet.titles == ["a": "2"])
  }

  @Test("a zone that was deleted beside the engine is made again by the app")
  func deletedZone() async throws {
    phone.edit(["a": "1"])
    try await phone.engine.sendChanges()
    try await phone.engine.database.deleteRecordZone(withID: phone.zoneID)
    phone.edit(["b": "2"])
    let error = await syncError { try await phone.engine.sendChanges() }
    #expect(error?.code == .partialFailure)
    try await phone.engine.sendChanges()
    try await tablet.engine.fetchChanges()
    #expect(tablet.titles == ["b": "2"])
  }

  @Test("the delegate has no more batches, so nothing untracked is left")
  func untracked() async throws {
    phone.engine.state.hasPendingUntrackedChanges = true
    try await phone.engine.sendChanges(.init(scope: .allExcluding([])))
    #expect(phone.engine.state.hasPendingUntrackedChanges)
    try await phone.engine.sendChanges()
    #expect(!phone.engine.state.hasPendingUntrackedChanges)
  }
}
