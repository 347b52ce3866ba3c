import CloudKit
import Testing

struct QuerySubscriptionTests {
  /// Options and what they fire on when a record is created, updated and deleted.
  static let cases: [(CKQuerySubscription.Options, [String])] = [
    (.firesOnRecordCreation, ["created A"]),
    (.firesOnRecordUpdate, ["updated A"]),
    (.firesOnRecordDeletion, ["deleted A"]),
    ([.firesOnRecordCreation, .firesOnRecordUpdate], ["created A", "updated A"]),
    ([.firesOnRecordCreation, .firesOnRecordDeletion], ["created A", "deleted A"]),
    ([.firesOnRecordUpdate, .firesOnRecordDeletion], ["deleted A", "updated A"]),
    (
      [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion],
      ["created A", "deleted A", "updated A"]
    ),
  ]

  @Test("A subscription fires on the events of its options and on no other", arguments: cases)
  func events(options: CKQuerySubscription.Options, expected: [String]) async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(where: .all, options: options)
      let record = try await laptop.add("Item", "A")
      record["n"] = 1
      try await laptop.save(record)
      try await laptop.deleteRecord(withID: record.recordID)
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event).sorted() == expected)
    }
  }

  @Test("An update fires when the new values match, whatever the old ones were")
  func updates() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(
        where: NSPredicate(format: "n > 10"), options: .firesOnRecordUpdate)
      let leaves = try await laptop.add("Item", "leaves", ["n": 20])
      let enters = try await laptop.add("Item", "enters", ["n": 1])
      leaves["n"] = 1
      enters["n"] = 20
      try await laptop.modifyRecords(saving: [leaves, enters], deleting: [])
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["updated enters"])
    }
  }

  @Test("A deletion is matched on the last values and carries no fields")
  func deletions() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      let info = CKSubscription.NotificationInfo()
      info.desiredKeys = ["n"]
      try await phone.privateCloudDatabase.subscribe(
        where: NSPredicate(format: "n > 10"), options: .firesOnRecordDeletion, info: info)
      let grown = try await laptop.add("Item", "grown", ["n": 1])
      try await laptop.add("Item", "small", ["n": 1])
      grown["n"] = 20
      try await laptop.save(grown)
      try await laptop.modifyRecords(
        saving: [],
        deleting: [grown.recordID, CKRecord.ID(recordName: "small")])
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["deleted grown"])
      #expect(pushes.first?.query?.recordFields == nil)
      #expect(pushes.first?.json["ck"]?["qry"]?["af"] == nil)
    }
  }

  @Test("Where the container is set so, a deletion carries the last values and the record type")
  func lastValues() async throws {
    try await Cloud.run(settings: .init(deletionsCarryLastValues: true)) { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      let info = CKSubscription.NotificationInfo()
      info.desiredKeys = ["n"]
      try await phone.privateCloudDatabase.subscribe(
        where: NSPredicate(format: "n > 10"),
        options: [.firesOnRecordDeletion, .firesOnRecordUpdate], info: info)
      let grown = try await laptop.add("Item", "grown", ["n": 1])
      grown["n"] = 20
      try await laptop.save(grown)
      try await laptop.deleteRecord(withID: grown.recordID)
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event).sorted() == ["deleted grown", "updated grown"])
      let deletion = try #require(pushes.first { $0.event == "deleted grown" })
      #expect(deletion.query?.recordFields?["n"] as? Int == 20)
      #expect(deletion.json["ck"]?["qry"]?["rt"] == "Item")
      let update = try #require(pushes.first { $0.event == "updated grown" })
      #expect(update.json["ck"]?["qry"]?["rt"] == nil)
    }
  }

  @Test("Where the container is set so, a second subscription with the same content is refused")
  func equalContent() async throws {
    try await Cloud.run(settings: .init(refusesEqualSubscriptions: true)) { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let make = { (id: String, format: String) in
        CKQuerySubscription(
          recordType: "Item", predicate: NSPredicate(format: format), subscriptionID: id,
          options: .firesOnRecordCreation)
      }
      try await database.save(make("first", "n > 10 AND m == 1"))
      try await database.save(make("first", "n > 10 AND m == 1"))
      try await database.save(make("other", "n > 10 AND m == 2"))
      let error = await #expect(throws: CKError.self) {
        try await database.save(make("second", "m == 1 AND n > 10"))
      }
      #expect(error?.code == .serverRejectedRequest)
      #expect(error?.localizedDescription.contains("'first'") == true)
      #expect(try await database.allSubscriptions().count == 2)
      let bobs = try await cloud.container(of: "bob", device: "tablet").privateCloudDatabase
      try await bobs.save(make("second", "n > 10 AND m == 1"))
    }
  }

  @Test("A subscription that fires once fires once for many matching records, and is gone")
  func firesOnce() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(
        "once", where: .all, options: [.firesOnRecordCreation, .firesOnce])
      try await laptop.modifyRecords(
        saving: (0..<50).map { CKRecord("Item", "item-\($0)") }, deleting: [])
      try await laptop.add("Item", "late")
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["created item-0"])
      let failure = await #expect(throws: CKError.self) {
        try await phone.privateCloudDatabase.subscription(for: "once")
      }
      #expect(failure?.code == .unknownItem)
    }
  }

  @Test("A subscription with a zone hears of that zone alone, one without of all zones")
  func zones() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      let notes = try await laptop.addZone("Notes")
      let drafts = try await laptop.addZone("Drafts")
      try await phone.privateCloudDatabase.subscribe("notes", where: .all, zone: notes)
      try await phone.privateCloudDatabase.subscribe("default", where: .all, zone: .default)
      try await phone.privateCloudDatabase.subscribe("everywhere", where: .all)
      for zone in [notes, drafts, .default] {
        try await laptop.add("Item", "in-\(zone.zoneName)", zone: zone)
      }
      let pushes = try await cloud.settledPushes()
      let heard = Set(pushes.map { "\($0.subscriptionID ?? "?") \($0.recordName ?? "?")" })
      #expect(
        heard == [
          "notes in-Notes", "default in-_defaultZone", "everywhere in-Notes",
          "everywhere in-Drafts", "everywhere in-_defaultZone",
        ])
      #expect(pushes.count == 5)
    }
  }

  @Test("Records of another type and another user's private records are not heard of")
  func others() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      let ben = try await cloud.container(of: "ben", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(where: .all)
      try await laptop.add("Thing", "other-type")
      try await ben.add("Item", "of-ben")
      try await laptop.add("Item", "mine")
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.recordName) == ["mine"])
    }
  }

  @Test("A subscription that was deleted or replaced does not fire as it did")
  func replacing() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
        .privateCloudDatabase
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.subscribe("deleted", where: .all)
      try await phone.subscribe("replaced", where: NSPredicate(format: "n == 1"))
      try await laptop.add("Item", "before", ["n": 1])
      #expect(try await cloud.settledPushes().count == 2)
      try await phone.deleteSubscription(withID: "deleted")
      try await phone.subscribe("replaced", where: NSPredicate(format: "n == 2"))
      try await laptop.add("Item", "one", ["n": 1])
      try await laptop.add("Item", "two", ["n": 2])
      let pushes = try await cloud.settledPushes()
      let heard = pushes.map { "\($0.subscriptionID ?? "?") \($0.recordName ?? "?")" }
      #expect(heard.sorted() == ["deleted before", "replaced before", "replaced two"])
    }
  }

  @Test("In the public database every user's subscriptions hear of a change")
  func publicDatabase() async throws {
    try await Cloud.run { cloud in
      let writer = try await cloud.container(of: "anna", device: "laptop").publicCloudDatabase
      for user in ["anna", "ben", "chloe"] {
        let container = try await cloud.registeredContainer(of: user, device: "phone")
        try await container.publicCloudDatabase.subscribe(
          where: NSPredicate(format: user == "chloe" ? "n == 2" : "n == 1"))
      }
      try await writer.add("Item", "one", ["n": 1])
      let pushes = try await cloud.settledPushes(in: .public)
      #expect(
        Set(pushes.compactMap(\.deviceToken))
          == Set(["anna", "ben"].map { Cloud.deviceTokenText(of: $0, device: "phone") }))
      #expect(pushes.allSatisfy { $0.query?.databaseScope == .public })
      #expect(Set(pushes.compactMap { $0.notification?.notificationID?.description }).count == 1)
      #expect(Set(pushes.compactMap { $0.headers["apns-id"] }).count == 2)
    }
  }
}
