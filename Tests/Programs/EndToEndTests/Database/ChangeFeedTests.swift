import CloudKit
import CloudKitModel
import StoreModel
import Testing

struct ChangeFeedTests {
  /// The token as an app finds it at its next launch.
  private func relaunched(_ token: CKServerChangeToken) throws -> CKServerChangeToken {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: token, requiringSecureCoding: true)
    return try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data))
  }

  @Test("A device that follows the zones and their records has what the other has")
  func follow() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let mac = try await cloud.container(of: "anna", device: "mac").privateCloudDatabase
      var copy = Copy()
      let notes = try await phone.addZone("Notes")
      let photos = try await phone.addZone("Photos")
      try await phone.add("Note", "a", ["text": "one"], zone: notes)
      try await phone.add("Note", "b", zone: notes)
      try await phone.add("Photo", "p", zone: photos)
      try await phone.add("Note", "in no feed")
      await copy.follow(mac)
      #expect(copy.errors.isEmpty)
      #expect(copy.names == ["Notes": ["a", "b"], "Photos": ["p"]])
      #expect(copy.zones[notes]?.records["a"]?["text"] as? String == "one")
      try copy.relaunch(relaunched)

      let a = try #require(copy.zones[notes]?.records["a"])
      a["text"] = "two"
      try await mac.save(a)
      try await phone.deleteRecord(withID: CKRecord.ID(recordName: "b", zoneID: notes))
      try await phone.deleteRecordZone(withID: photos)
      await copy.follow(mac)
      #expect(copy.errors.isEmpty)
      #expect(copy.names == ["Notes": ["a"]])
      #expect(copy.zones[notes]?.records["a"]?["text"] as? String == "two")
      #expect(copy.deletedTypes == ["b": "Note"])

      try await phone.deleteRecordZone(withID: notes)
      _ = try await phone.addZone("Notes")
      try await phone.add("Note", "c", zone: notes)
      await copy.follow(mac)
      #expect(copy.errors.map(\.code) == [.changeTokenExpired])
      await copy.follow(mac)
      #expect(copy.names == ["Notes": ["c"]])
    }
  }

  @Test("All pages of several zones are fetched by one operation, with a token for each page")
  func pages() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let zones = [try await phone.addZone("A"), try await phone.addZone("B")]
      try await phone.modifyRecords(
        saving: (0..<400).map { CKRecord("Item", "a\($0)", ["n": $0], zone: zones[0]) },
        deleting: [])
      try await phone.modifyRecords(
        saving: (0..<50).map { CKRecord("Item", "a\($0)", zone: zones[1]) }, deleting: [])
      try await phone.modifyRecords(
        saving: (400..<450).map { CKRecord("Item", "a\($0)", ["n": $0], zone: zones[0]) },
        deleting: [])
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: zones,
        configurationsByRecordZoneID: [zones[1]: .init(resultsLimit: 20, desiredKeys: [])])
      let feed = await phone.changes(by: operation)
      #expect(feed.pages == ["A": 3, "B": 3])
      #expect(feed.results.mapValues(\.moreComing) == ["A": false, "B": false])
      #expect(feed.changed["A"] == (0..<450).map { "a\($0)" })
      #expect(feed.changed["B"] == (0..<50).map { "a\($0)" })
      #expect(feed.resultError == nil && feed.completionError == nil)

      let first = CKFetchRecordZoneChangesOperation(recordZoneIDs: zones)
      first.fetchAllChanges = false
      let part = await phone.changes(by: first)
      #expect(part.results.mapValues(\.moreComing) == ["A": true, "B": false])
      #expect(part.changed["A"]?.count == 200)
      let token = try relaunched(try #require(part.results["A"]?.token))
      let second = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zones[0]],
        configurationsByRecordZoneID: [zones[0]: .init(previousServerChangeToken: token)])
      let rest = await phone.changes(by: second)
      #expect(rest.changed["A"] == (200..<450).map { "a\($0)" })
    }
  }

  @Test("The async methods go from page to page, of zones and of records")
  func methods() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      for name in ["A", "B", "C"] { _ = try await phone.addZone(name) }
      let zoneID = CKRecordZone.ID(zoneName: "A")
      try await phone.modifyRecords(
        saving: (0..<7).map { CKRecord("Item", "a\($0)", ["n": $0, "m": 1], zone: zoneID) },
        deleting: [])
      var zones: [String] = []
      var token: CKServerChangeToken?
      var pages = 0
      repeat {
        let changes = try await phone.databaseChanges(since: token, resultsLimit: 2)
        zones += changes.modifications.map(\.zoneID.zoneName)
        #expect(changes.deletions.isEmpty)
        token = try relaunched(changes.changeToken)
        pages += 1
        if !changes.moreComing { break }
      } while true
      #expect(zones == ["B", "C", "A"] && pages == 2)
      try await phone.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "B"))
      let last = try await phone.databaseChanges(since: token)
      #expect(last.modifications.isEmpty)
      #expect(last.deletions.map(\.zoneID.zoneName) == ["B"])
      #expect(last.deletions.map(\.reason) == [.deleted])

      var names: Set<String> = []
      token = nil
      pages = 0
      repeat {
        let changes = try await phone.recordZoneChanges(
          inZoneWith: zoneID, since: token, desiredKeys: ["n"], resultsLimit: 3)
        for (recordID, result) in changes.modificationResultsByID {
          let record = try result.get().record
          #expect(record["n"] is NSNumber && record["m"] == nil)
          names.insert(recordID.recordName)
        }
        token = changes.changeToken
        pages += 1
        if !changes.moreComing { break }
      } while true
      #expect(names == Set((0..<7).map { "a\($0)" }) && pages == 3)
      try await phone.deleteRecord(withID: CKRecord.ID(recordName: "a3", zoneID: zoneID))
      let gone = try await phone.recordZoneChanges(inZoneWith: zoneID, since: token)
      #expect(gone.deletions.map(\.recordID) == [CKRecord.ID(recordName: "a3", zoneID: zoneID)])
      #expect(gone.deletions.map(\.recordType) == ["Item"])
      let callback: Bool = await withCheckedContinuation { continuation in
        phone.fetchRecordZoneChanges(inZoneWith: zoneID, since: gone.changeToken) { result in
          continuation.resume(
            returning: (try? result.get())?.modificationResultsByID.isEmpty == true)
        }
      }
      #expect(callback)
    }
  }

  @Test("A zone that the operator deletes is purged for its user, until the app makes it again")
  func purgedZone() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let zoneID = try await phone.addZone("A")
      let deleted = try await phone.addZone("B")
      let start = try await phone.databaseChanges(since: nil)
      try await cloud.purge(zoneID.zoneName, of: "anna")
      try await phone.deleteRecordZone(withID: deleted)
      let changes = try await phone.databaseChanges(since: start.changeToken)
      #expect(
        Dictionary(changes.deletions.map { ($0.zoneID, $0.reason) }, uniquingKeysWith: { $1 })
          == [zoneID: .purged, deleted: .deleted])
      func code(_ body: () async throws -> Void) async -> CKError.Code? {
        do {
          try await body()
          return nil
        } catch {
          return (error as? CKError)?.code
        }
      }
      let record = CKRecord("Item", "a", [:], zone: zoneID)
      for (zoneID, expected) in [(zoneID, CKError.Code.userDeletedZone), (deleted, .zoneNotFound)] {
        #expect(
          await code { _ = try await phone.recordZoneChanges(inZoneWith: zoneID, since: nil) }
            == expected)
        let query = CKQuery(recordType: "Item", predicate: .all)
        #expect(
          await code { _ = try await phone.records(matching: query, inZoneWith: zoneID) }
            == expected)
        #expect(
          await code { try await phone.save(CKRecord("Item", "a", [:], zone: zoneID)) } == expected)
      }
      _ = try await phone.addZone("A")
      #expect(await code { try await phone.save(record) } == nil)
    }
  }

  @available(*, deprecated)
  @Test("Zones that fail leave the others alone, and are told together to the old block")
  func failures() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let names = ["A", "gone", "again"]
      for name in names { _ = try await phone.addZone(name) }
      let zoneID = { (name: String) in CKRecordZone.ID(zoneName: name) }
      let old = try await phone.recordZoneChanges(inZoneWith: zoneID("again"), since: nil)
      let database = try await phone.databaseChanges(since: nil)
      for name in ["gone", "again"] { try await phone.deleteRecordZone(withID: zoneID(name)) }
      _ = try await phone.addZone("again")
      try await phone.add("Item", "a", zone: zoneID("A"))
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: (names + ["never"]).map(zoneID) + [.default],
        configurationsByRecordZoneID: [
          zoneID("again"): .init(previousServerChangeToken: old.changeToken)
        ])
      let feed = await phone.changes(by: operation)
      #expect(feed.changed == ["A": ["a"]])
      #expect(
        feed.errors.mapValues(\.code) == [
          "gone": .zoneNotFound, "again": .changeTokenExpired, "never": .zoneNotFound,
          "_defaultZone": .invalidArguments,
        ])
      #expect(feed.resultError == nil)
      #expect(feed.completionError?.code == .partialFailure)
      #expect(
        (feed.completionError?.partialErrorsByItemID?[zoneID("gone")] as? CKError)?.code
          == .zoneNotFound)
      let mixed = await #expect(throws: CKError.self) {
        try await phone.recordZoneChanges(
          inZoneWith: zoneID("A"), since: database.changeToken)
      }
      #expect(mixed?.code == .invalidArguments)
    }
  }

  @Test("The public database has no feeds")
  func publicDatabase() async throws {
    try await Cloud.run { cloud in
      let container = try await cloud.container(of: "anna", device: "phone")
      let records = await #expect(throws: CKError.self) {
        try await container.publicCloudDatabase.recordZoneChanges(
          inZoneWith: .default, since: nil)
      }
      let zones = await #expect(throws: CKError.self) {
        try await container.publicCloudDatabase.databaseChanges(since: nil)
      }
      #expect([records?.code, zones?.code] == [.badDatabase, .badDatabase])
      let shared = try await container.sharedCloudDatabase.databaseChanges(since: nil)
      #expect(shared.modifications.isEmpty && !shared.moreComing)
    }
  }

  @Test("Cancelled midway, an operation says so, and another goes on from the last token")
  func cancel() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let zone = try await phone.addZone("A")
      try await phone.modifyRecords(
        saving: (0..<30).map { CKRecord("Item", "a\($0)", zone: zone) }, deleting: [])
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zone],
        configurationsByRecordZoneID: [zone: .init(resultsLimit: 10)])
      let first = await phone.changes(by: operation) { [unowned operation] in operation.cancel() }
      #expect(first.resultError?.code == .operationCancelled)
      #expect(first.changed["A"]?.count == 10)
      let token = try relaunched(try #require(first.tokens["A"]))
      let second = await phone.changes(
        by: CKFetchRecordZoneChangesOperation(
          recordZoneIDs: [zone],
          configurationsByRecordZoneID: [zone: .init(previousServerChangeToken: token)]))
      #expect(second.changed["A"] == (10..<30).map { "a\($0)" })
    }
  }

  @Test("Nothing is missed that is saved while a device goes from page to page")
  func meanwhile() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let mac = try await cloud.container(of: "anna", device: "mac").privateCloudDatabase
      let zone = try await phone.addZone("A")
      try await phone.modifyRecords(
        saving: (0..<40).map { CKRecord("Item", "a\($0)", ["n": 0], zone: zone) }, deleting: [])
      let writer = Task {
        for round in 1...30 {
          let records = (0..<3).map {
            CKRecord("Item", "a\((round * 7 + $0 * 13) % 40)", zone: zone)
          }
          for record in records { record["n"] = round }
          let gone = CKRecord.ID(recordName: "a\((round * 11 + 5) % 40)", zoneID: zone)
          try await phone.modifyRecords(
            saving: records.filter { $0.recordID != gone }, deleting: [gone],
            savePolicy: .allKeys, atomically: false)
        }
      }
      var values: [String: Int] = [:]
      var token: CKServerChangeToken?
      var isWritten = false
      while true {
        let page = try await mac.recordZoneChanges(
          inZoneWith: zone, since: token, resultsLimit: 7)
        for (recordID, result) in page.modificationResultsByID {
          values[recordID.recordName] = try result.get().record["n"] as? Int
        }
        for deletion in page.deletions { values[deletion.recordID.recordName] = nil }
        token = page.changeToken
        if page.moreComing { continue }
        if isWritten { break }
        try await writer.value
        isWritten = true
      }
      let query = try await phone.records(
        matching: CKQuery(recordType: "Item", predicate: .all), inZoneWith: zone)
      var expected: [String: Int] = [:]
      for (recordID, result) in query.matchResults {
        expected[recordID.recordName] = try result.get()["n"] as? Int
      }
      #expect(values == expected && !expected.isEmpty)
    }
  }

  @Test("A device gets back what it left with its last changes of the zone")
  func clientChangeTokens() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let mac = try await cloud.container(of: "anna", device: "mac").privateCloudDatabase
      let zone = try await phone.addZone("A")
      let operation = CKModifyRecordsOperation(
        recordsToSave: [CKRecord("Item", "a", zone: zone)])
      operation.clientChangeTokenData = Data("generation 7".utf8)
      let error: (any Error)? = await withCheckedContinuation { continuation in
        operation.modifyRecordsResultBlock = { result in
          if case .failure(let error) = result {
            continuation.resume(returning: error)
          } else {
            continuation.resume(returning: nil)
          }
        }
        phone.add(operation)
      }
      #expect(error == nil)
      let own = await phone.changes(by: CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone]))
      #expect(own.results["A"]?.data == Data("generation 7".utf8))
      let other = await mac.changes(by: CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone]))
      #expect(other.results["A"]?.token == own.results["A"]?.token)
      #expect(other.results["A"]?.data == nil)
    }
  }

  @available(*, deprecated)
  @Test("The old operation for one zone tells whether more is coming")
  func oldOperation() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let zone = try await phone.addZone("A")
      try await phone.modifyRecords(
        saving: (0..<3).map { CKRecord("Item", "a\($0)", ["n": $0], zone: zone) }, deleting: [])
      func fetch(_ token: CKServerChangeToken?) async -> (OldFeed, CKError?) {
        let operation = CKFetchRecordChangesOperation(
          recordZoneID: zone, previousServerChangeToken: token)
        operation.resultsLimit = 2
        operation.desiredKeys = []
        let feed = OldFeed()
        operation.recordChangedBlock = { feed.names.append($0.recordID.recordName) }
        operation.recordWithIDWasDeletedBlock = { feed.names.append("-" + $0.recordName) }
        let error: CKError? = await withCheckedContinuation { continuation in
          operation.fetchRecordChangesCompletionBlock = { [unowned operation] token, _, error in
            feed.token = token
            feed.moreComing = operation.moreComing
            continuation.resume(returning: error as? CKError)
          }
          phone.add(operation)
        }
        return (feed, error)
      }
      let (first, firstError) = await fetch(nil)
      #expect(first.names == ["a0", "a1"] && first.moreComing && firstError == nil)
      try await phone.deleteRecord(withID: CKRecord.ID(recordName: "a0", zoneID: zone))
      let (second, _) = await fetch(first.token)
      #expect(second.names == ["a2", "-a0"] && !second.moreComing)
      try await phone.deleteRecordZone(withID: zone)
      let (third, error) = await fetch(second.token)
      #expect(third.names.isEmpty && third.token == nil && error?.code == .zoneNotFound)
    }
  }
}

/// The results of the old operation. Its blocks run one after the other.
private final class OldFeed: @unchecked Sendable {
  var names: [String] = []
  var token: CKServerChangeToken?
  var moreComing = false
}

extension Cloud {
  /// Deletes a zone of a user's private database, as the operator of the server does.
  fileprivate func purge(_ zoneName: String, of user: String) async throws {
    let owner = try await container(of: user, device: "operator").userRecordID().recordName
    let address = DatabaseAddress(
      container: Self.container, environment: .development, scope: .private, owner: owner)
    let database = try #require(try await store.databases.existingDatabase(at: address))
    var origin = ChangeOrigin(userRecordName: owner)
    origin.isByOperator = true
    _ = try await store.zones.modifyZones(
      [.delete(ZoneID(zoneName: zoneName))], in: database, origin: origin, timestamp: .now)
  }
}
