import CloudKit
import PetrelTesting
import SyncDevices
import Synchronization
import Testing

/// The fetches of a sync engine, asked for by the app.
struct SyncEngineFetchingTests {
  private let cloud: TestCloud
  private let database: CKDatabase
  private let device: SyncDevice

  init() async throws {
    cloud = try await TestCloud()
    database = cloud.container(user: "anna", device: "phone").privateCloudDatabase
    device = SyncDevice(cloud.container(user: "anna", device: "tablet").privateCloudDatabase)
    device.start()
  }

  private func zone(_ name: String, records: Int = 1) async throws -> CKRecordZone.ID {
    let zone = CKRecordZone(zoneName: name)
    _ = try await database.save(zone)
    let saved = (0..<records).map {
      CKRecord(
        recordType: "Note",
        recordID: CKRecord.ID(recordName: "\(name)\($0)", zoneID: zone.zoneID))
    }
    _ = try await database.modifyRecords(saving: saved, deleting: [])
    return zone.zoneID
  }

  private var fetchedZones: [String] {
    device.events.compactMap {
      if case .willFetchRecordZoneChanges(let event) = $0 { event.zoneID.zoneName } else { nil }
    }
  }

  private var errors: [String: CKError.Code?] {
    device.events.reduce(into: [:]) { errors, event in
      guard case .didFetchRecordZoneChanges(let event) = event else { return }
      errors.updateValue(event.error?.code, forKey: event.zoneID.zoneName)
    }
  }

  @Test("prioritized zones come first, also when the priority changes between two requests")
  func priority() async throws {
    let zones = try await ["a", "b", "c", "d"].asyncMap { try await zone($0) }
    let first = Mutex(zones[2])
    device.options.withLock {
      $0 = { context in
        var options = context.options
        options.prioritizedZoneIDs = [first.withLock { $0 }]
        return options
      }
    }
    device.onEvent.withLock {
      $0 = { event, _ in
        if case .didFetchRecordZoneChanges = event { first.withLock { $0 = zones[3] } }
      }
    }
    try await device.engine.fetchChanges()
    #expect(fetchedZones == ["c", "d", "a", "b"])
  }

  @Test("a zone outside the scope stays unfetched, and comes with the next fetch")
  func scope() async throws {
    let (a, b) = (try await zone("a"), try await zone("b"))
    try await device.engine.fetchChanges(.init(scope: .zoneIDs([b])))
    #expect(fetchedZones == ["b"])
    #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges == [a])
    try await device.engine.fetchChanges()
    #expect(fetchedZones == ["b", "a"])
    #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
    #expect(device.titles.count == 2)
  }

  @Test("a zone of several pages has one event for each page, between one begin and one end")
  func pages() async throws {
    _ = try await zone("a", records: 350)
    _ = try await zone("b")
    try await device.engine.fetchChanges()
    let counts = device.events.compactMap {
      if case .fetchedRecordZoneChanges(let event) = $0 { event.modifications.count } else { nil }
    }
    #expect(counts.reduce(0, +) == 351 && counts.count == 3)
    #expect(fetchedZones.sorted() == ["a", "b"])
  }

  @Test("a zone whose token expired comes again as a whole")
  func expiredZone() async throws {
    let a = try await zone("a", records: 3)
    try await device.engine.fetchChanges()
    _ = try await database.save(
      CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "new", zoneID: a)))
    cloud.fail(next: .changeTokenExpired, operation: .fetchRecordZoneChanges)
    device.clear()
    try await device.engine.fetchChanges()
    #expect(cloud.waitingFaults == 0)
    #expect(errors == ["a": nil])
    #expect(device.titles.count == 4)
  }

  @Test("after the database's token expired, zones that vanished meanwhile are reported as deleted")
  func expiredDatabase() async throws {
    let (a, _) = (try await zone("a"), try await zone("b"))
    try await device.engine.fetchChanges()
    #expect(device.titles.count == 2)
    let known = try #require(device.state.withLock { $0.stored })
    // The server forgets deletions of zones in the end; a new user's feed has no zone of the past.
    let other = SyncDevice(cloud.container(user: "anna", device: "other").privateCloudDatabase)
    other.state.withLock { $0.stored = known }
    other.start()
    try await database.deleteRecordZone(withID: a)
    cloud.fail(next: .changeTokenExpired, device: "other", operation: .fetchDatabaseChanges)
    try await other.engine.fetchChanges()
    let deleted = other.events.flatMap { event -> [String] in
      guard case .fetchedDatabaseChanges(let changes) = event else { return [] }
      return changes.deletions.map(\.zoneID.zoneName)
    }
    #expect(deleted == ["a"])
  }

  @Test("a zone that fails has its error, the others are complete, and the call says which failed")
  func failingZone() async throws {
    for name in ["a", "b", "c"] { _ = try await zone(name) }
    cloud.fail(next: .zoneBusy(), operation: .fetchRecordZoneChanges)
    let error = await syncError { try await device.engine.fetchChanges() }
    #expect(error?.code == .partialFailure && error?.partialErrorsByItemID?.count == 1)
    #expect(errors.values.compactMap(\.self) == [.zoneBusy] && errors.count == 3)
    #expect(device.titles.count == 2)
    try await device.engine.fetchChanges()
    #expect(device.titles.count == 3)
  }

  @Test("a zone that another device deleted is reported, and may come again under its name")
  func deletedZone() async throws {
    let a = try await zone("a", records: 2)
    try await device.engine.fetchChanges()
    try await database.deleteRecordZone(withID: a)
    device.clear()
    try await device.engine.fetchChanges()
    #expect(device.titles.isEmpty)
    #expect(
      device.events.contains {
        guard case .fetchedDatabaseChanges(let changes) = $0 else { return false }
        return changes.deletions.map(\.reason) == [.deleted]
      })
    _ = try await zone("a")
    try await device.engine.fetchChanges()
    #expect(Array(device.titles.keys) == ["a0"])
  }

  @Test("a network that fails ends the fetch; each begin has its end, and the next fetch goes on")
  func network() async throws {
    for name in ["a", "b"] { _ = try await zone(name) }
    cloud.fail(next: .networkLoss, operation: .fetchRecordZoneChanges)
    let error = await syncError { try await device.engine.fetchChanges() }
    #expect(error?.code == .networkUnavailable)
    #expect(
      device.eventNames.suffix(3) == [
        "willFetchRecordZoneChanges", "didFetchRecordZoneChanges", "didFetchChanges",
      ])
    try await device.engine.fetchChanges()
    #expect(device.titles.count == 2)
  }

  @Test("calls at the same time each see what the server had, in no more passes than they need")
  func concurrentCalls() async throws {
    _ = try await zone("a")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { try await device.engine.fetchChanges() } }
      try await group.waitForAll()
    }
    #expect(device.eventNames.count { $0 == "willFetchChanges" } <= 3)
    #expect(device.titles.count == 1)
  }
}

extension Sequence {
  fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows
    -> [Value]
  {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
