import CloudKit
import Testing

struct DatabaseTests {
  @Test("A record comes back as it was saved, with all types of fields")
  func roundTrip() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let time = Date(timeIntervalSince1970: 1_700_000_000.25)
      try await phone.add(
        "Item", "A",
        [
          "text": "Größe", "whole": 42, "real": 0.1, "time": time, "bytes": Data([0, 255]),
          "place": CLLocation(latitude: -18.14, longitude: 178.44),
          "target": CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "other"), action: .none), "tags": ["a", "b"],
        ])
      let record = try await phone.record(for: CKRecord.ID(recordName: "A"))
      #expect(record["text"] as? String == "Größe")
      #expect(record["whole"] as? Int == 42)
      #expect(record["real"] as? Double == 0.1)
      #expect(record["time"] as? Date == time)
      #expect(record["bytes"] as? Data == Data([0, 255]))
      #expect((record["place"] as? CLLocation)?.coordinate.longitude == 178.44)
      #expect((record["target"] as? CKRecord.Reference)?.recordID.recordName == "other")
      #expect(record["tags"] as? [String] == ["a", "b"])
      #expect(record.recordChangeTag != nil)
      #expect(record.creationDate != nil && record.modificationDate != nil)
    }
  }

  @Test("Fetching several records gives each its own result")
  func records() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await phone.add("Item", "A", ["n": 1, "text": "unwanted"])
      let ids = ["A", "missing"].map { CKRecord.ID(recordName: $0) }
      let results = try await phone.records(for: ids, desiredKeys: ["n"])
      let found = try #require(try results[ids[0]]?.get())
      #expect(found["n"] as? Int == 1 && found["text"] == nil)
      let failure = #expect(throws: CKError.self) { try results[ids[1]]?.get() }
      #expect(failure?.code == .unknownItem)
    }
  }

  @Test("A sorted query goes on over its pages with a cursor")
  func pages() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await phone.modifyRecords(
        saving: (0..<250).map { CKRecord("Item", "item-\($0)", ["n": ($0 * 37) % 250]) },
        deleting: [])
      let query = CKQuery(recordType: "Item", predicate: NSPredicate(format: "n >= 10"))
      query.sortDescriptors = [NSSortDescriptor(key: "n", ascending: false)]
      var page = try await phone.records(matching: query, resultsLimit: 100)
      var numbers: [Int] = []
      var pages = 0
      while true {
        pages += 1
        for (_, result) in page.matchResults {
          numbers.append(try #require(try result.get()["n"] as? Int))
        }
        guard let cursor = page.queryCursor else { break }
        page = try await phone.records(continuingMatchFrom: cursor, resultsLimit: 100)
      }
      #expect(numbers == Array((10..<250).reversed()))
      #expect(pages == 3)
    }
  }

  @Test("A query in one zone finds the records of that zone")
  func queryInZone() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let notes = try await phone.addZone("Notes")
      try await phone.add("Item", "A", zone: notes)
      try await phone.add("Item", "B")
      let found = try await phone.records(
        matching: CKQuery(recordType: "Item", predicate: .all), inZoneWith: notes)
      #expect(found.matchResults.map(\.0.recordName) == ["A"])
    }
  }

  @Test("Zones are made, listed, fetched and deleted with their records")
  func zones() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let notes = try await phone.addZone("Notes")
      let record = try await phone.add("Item", "A", zone: notes)
      let zones = try await phone.allRecordZones()
      #expect(Set(zones.map(\.zoneID.zoneName)) == ["_defaultZone", "Notes"])
      #expect(try await phone.recordZone(for: notes).zoneID.zoneName == "Notes")
      try await phone.deleteRecordZone(withID: notes)
      let failure = await #expect(throws: CKError.self) {
        try await phone.record(for: record.recordID)
      }
      #expect([.zoneNotFound, .unknownItem].contains(failure?.code))
      #expect(try await phone.allRecordZones().map(\.zoneID.zoneName) == ["_defaultZone"])
    }
  }

  @available(*, deprecated)
  @Test("The operation for the current user's record gives the user's own record")
  func currentUser() async throws {
    try await Cloud.run { cloud in
      let container = try await cloud.container(of: "anna", device: "phone")
      let userRecordID = try await container.userRecordID()
      #expect(try await container.accountStatus() == .available)
      let record = try await withCheckedThrowingContinuation { continuation in
        let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
        operation.fetchRecordsCompletionBlock = { records, error in
          if let record = records?.values.first {
            continuation.resume(returning: record)
          } else {
            continuation.resume(throwing: error ?? CKError(.internalError))
          }
        }
        container.privateCloudDatabase.add(operation)
      }
      #expect(record.recordID.recordName == userRecordID.recordName)
      #expect(record.recordType == "Users")
    }
  }

  @Test("Subscriptions come back as they were saved")
  func subscriptions() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let notes = try await phone.addZone("Notes")
      try await phone.subscribe(
        "query", where: NSPredicate(format: "tags CONTAINS 'Swift'"),
        options: [.firesOnRecordUpdate, .firesOnce], zone: notes,
        info: .init(
          alertBody: "Body", title: "Title", desiredKeys: ["a", "b"], shouldBadge: true,
          collapseIDKey: "items"))
      try await phone.save(CKRecordZoneSubscription(zoneID: notes, subscriptionID: "zone"))
      try await phone.save(CKDatabaseSubscription(subscriptionID: "database"))
      let all = try await phone.allSubscriptions()
      #expect(Set(all.map(\.subscriptionID)) == ["query", "zone", "database"])
      let query = try #require(
        try await phone.subscription(for: "query") as? CKQuerySubscription)
      #expect(query.recordType == "Item")
      #expect(query.querySubscriptionOptions == [.firesOnRecordUpdate, .firesOnce])
      #expect(query.zoneID?.zoneName == "Notes")
      let info = try #require(query.notificationInfo)
      #expect(info.alertBody == "Body" && info.title == "Title" && info.shouldBadge)
      #expect(info.desiredKeys == ["a", "b"] && info.collapseIDKey == "items")
      let zone = all.first { $0.subscriptionID == "zone" } as? CKRecordZoneSubscription
      #expect(zone?.zoneID.zoneName == "Notes")
    }
  }
}
