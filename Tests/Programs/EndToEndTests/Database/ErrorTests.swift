import CloudKit
import Testing

struct ErrorTests {
  /// The error of an item of an operation's results.
  private func error<Value>(_ result: Result<Value, any Error>?) -> CKError? {
    if case .failure(let error) = result { return error as? CKError }
    return nil
  }

  @Test("Saving a stale record gives the client's, the server's and the common record")
  func conflict() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.add("Item", "A", ["n": 1])
      let recordID = CKRecord.ID(recordName: "A")
      let stale = try await phone.record(for: recordID)
      let fresh = try await laptop.record(for: recordID)
      fresh["n"] = 2
      try await laptop.save(fresh)
      stale["n"] = 3
      let failure = await #expect(throws: CKError.self) { try await phone.save(stale) }
      #expect(failure?.code == .serverRecordChanged)
      #expect((failure?.userInfo["CKErrorDescription"] as? String)?.contains("oplock") == true)
      #expect(failure?.clientRecord?["n"] as? Int == 3)
      #expect(failure?.serverRecord?["n"] as? Int == 2)
      #expect(failure?.ancestorRecord?["n"] as? Int == 1)
      let merged = try #require(failure?.serverRecord)
      merged["n"] = 3
      #expect(try await phone.save(merged)["n"] as? Int == 3)
    }
  }

  @Test("Creating a record that exists is a conflict")
  func exists() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await phone.add("Item", "A", ["n": 1])
      let failure = await #expect(throws: CKError.self) { try await phone.add("Item", "A") }
      #expect(failure?.code == .serverRecordChanged)
      let text = failure?.userInfo["CKErrorDescription"] as? String
      #expect(text?.contains("record to insert already exists") == true)
      #expect(failure?.serverRecord?["n"] as? Int == 1)
    }
  }

  @Test("More than three desired keys are refused, naming the limit")
  func desiredKeys() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let failure = await #expect(throws: CKError.self) {
        try await phone.subscribe(
          where: .all, info: .init(desiredKeys: ["a", "b", "c", "d"]))
      }
      #expect(failure?.code == .invalidArguments)
      #expect(failure?.localizedDescription.contains("3") == true)
      #expect(try await phone.allSubscriptions().isEmpty)
    }
  }

  @Test("A predicate that CloudKit does not support is refused on save, naming what it is")
  func predicate() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let failure = await #expect(throws: CKError.self) {
        try await phone.subscribe(where: NSPredicate(format: "a == 1 OR b == 2"))
      }
      #expect(failure?.code == .invalidArguments)
      #expect(failure?.localizedDescription.contains("OR") == true)
    }
  }

  @Test("A record-zone subscription is refused in the public database, saying what works there")
  func publicZone() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").publicCloudDatabase
      let subscription = CKRecordZoneSubscription(
        zoneID: CKRecordZone.ID(zoneName: "Notes"), subscriptionID: "notes")
      let failure = await #expect(throws: CKError.self) { try await phone.save(subscription) }
      #expect(failure?.code == .invalidArguments)
      #expect(failure?.localizedDescription.lowercased().contains("query") == true)
    }
  }

  @Test("A zone that does not exist is zoneNotFound, for a record and for a subscription")
  func unknownZone() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let zone = CKRecordZone.ID(zoneName: "Nowhere")
      let saving = await #expect(throws: CKError.self) {
        try await phone.add("Item", "A", zone: zone)
      }
      #expect(saving?.code == .zoneNotFound)
      let subscribing = await #expect(throws: CKError.self) {
        try await phone.subscribe(where: .all, zone: zone)
      }
      #expect(subscribing?.code == .zoneNotFound)
    }
  }

  @Test("More than 400 records are limitExceeded and none is kept; 400 are saved")
  func requestLimit() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let records = (0...400).map { CKRecord("Item", "item-\($0)", ["n": $0]) }
      let failure = await #expect(throws: CKError.self) {
        try await phone.modifyRecords(saving: records, deleting: [])
      }
      #expect(failure?.code == .limitExceeded)
      #expect(failure?.localizedDescription.contains("400") == true)
      let first = await #expect(throws: CKError.self) {
        try await phone.record(for: records[0].recordID)
      }
      #expect(first?.code == .unknownItem)
      let saved = try await phone.modifyRecords(saving: Array(records.dropLast()), deleting: [])
      #expect(saved.saveResults.count == 400)
      #expect(saved.saveResults.values.allSatisfy { error($0) == nil })
    }
  }

  @Test("A record of more than a megabyte is limitExceeded, naming the record")
  func recordLimit() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let failure = await #expect(throws: CKError.self) {
        try await phone.add(
          "Item", "large", ["text": String(repeating: "x", count: 1_100_000)])
      }
      #expect(failure?.code == .limitExceeded)
      #expect(failure?.localizedDescription.contains("large") == true)
    }
  }

  @available(*, deprecated)
  @Test("Records of more than two megabytes together are limitExceeded; halves are saved")
  func requestSizeLimit() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let records = (0..<6).map {
        CKRecord("Item", "item-\($0)", ["data": Data(repeating: UInt8($0), count: 400_000)])
      }
      let outcome = await phone.outcome(of: CKModifyRecordsOperation(recordsToSave: records))
      #expect(outcome.resultError?.code == .limitExceeded)
      #expect(outcome.completionError?.code == .limitExceeded)
      #expect(outcome.errors.isEmpty)
      for half in [records[..<3], records[3...]] {
        try await phone.modifyRecords(saving: Array(half), deleting: [])
      }
      let found = try await phone.records(for: records.map(\.recordID))
      #expect(found.values.allSatisfy { error($0) == nil })
    }
  }

  @Test("A body that the server does not even read is limitExceeded")
  func bodyLimit() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let records = (0..<10).map {
        CKRecord("Item", "item-\($0)", ["data": Data(repeating: UInt8($0), count: 900_000)])
      }
      let failure = await #expect(throws: CKError.self) {
        try await phone.modifyRecords(saving: records, deleting: [])
      }
      #expect(failure?.code == .limitExceeded)
    }
  }

  @Test("Making a zone in the public database is badDatabase")
  func publicZones() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").publicCloudDatabase
      let failure = await #expect(throws: CKError.self) { try await phone.addZone("Notes") }
      #expect(failure?.code == .badDatabase)
    }
  }

  @Test("A field's type is fixed by its first value; another is refused with both types")
  func fieldType() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await phone.add("Item", "A", ["n": 1])
      let failure = await #expect(throws: CKError.self) {
        try await phone.add("Item", "B", ["n": "one"])
      }
      #expect(failure?.code == .invalidArguments)
      #expect(failure?.localizedDescription.contains("'n'") == true)
    }
  }

  @Test("An unknown token is notAuthenticated, and the account status noAccount")
  func unknownToken() async throws {
    try await Cloud.run { cloud in
      let stranger = await cloud.container(token: "unknown", device: "phone")
      let failure = await #expect(throws: CKError.self) {
        try await stranger.privateCloudDatabase.add("Item", "A")
      }
      #expect(failure?.code == .notAuthenticated)
      let status = try await stranger.accountStatus()
      #expect(status == .noAccount)
    }
  }

  @Test("A token that has expired is notAuthenticated")
  func expiredToken() async throws {
    try await Cloud.run { cloud in
      let expired = await cloud.container(
        token: try await cloud.expiredToken(of: "anna"), device: "phone")
      let failure = await #expect(throws: CKError.self) {
        try await expired.privateCloudDatabase.add("Item", "A")
      }
      #expect(failure?.code == .notAuthenticated)
    }
  }

  @available(*, deprecated)
  @Test("In a custom zone one failure undoes the zone's other changes")
  func atomic() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
        .privateCloudDatabase
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.subscribe(where: .all)
      let notes = try await laptop.addZone("Notes")
      try await laptop.add("Item", "taken", zone: notes)
      let good = CKRecord("Item", "good", zone: notes)
      let operation = CKModifyRecordsOperation(
        recordsToSave: [good, CKRecord("Item", "taken", zone: notes)])
      let outcome = await laptop.outcome(of: operation)
      #expect(outcome.errors["good"]?.code == .batchRequestFailed)
      #expect(outcome.errors["taken"]?.code == .serverRecordChanged)
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.recordName) == ["taken"])
    }
  }

  @available(*, deprecated)
  @Test("Result blocks get success when single items fail; completion blocks partialFailure")
  func blockStyles() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await phone.add("Item", "taken")
      let outcome = await phone.outcome(
        of: CKModifyRecordsOperation(
          recordsToSave: [CKRecord("Item", "good"), CKRecord("Item", "taken")]))
      #expect(outcome.resultError == nil)
      #expect(outcome.errors.mapValues(\.code) == ["taken": .serverRecordChanged])
      #expect(outcome.completionError?.code == .partialFailure)
      let partial = outcome.completionError?.partialErrorsByItemID
      #expect(partial?.keys.compactMap { ($0 as? CKRecord.ID)?.recordName } == ["taken"])
      #expect(outcome.saved == ["good"])
    }
  }
}
