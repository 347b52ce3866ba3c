import CloudKitModel
import Foundation
import PostgreSQLTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

extension RecordStoreConformance {
  struct UserDeletions {
    static let engines = StoreEngine.allCases
    static let cells = engines.flatMap { engine in
      UserDeletion.PublicRecords.allCases.map { (engine, $0) }
    }

    private func begin(
      _ test: TestStore, _ publicRecords: UserDeletion.PublicRecords
    ) async throws -> UserWithEverything {
      let user = try await UserWithEverything.make(
        in: test, isMarkedInPublic: publicRecords == .delete)
      _ = try await test.store.userDeletion.beginUserDeletion(
        named: UserWithEverything.account, publicRecords: publicRecords, at: TestStore.time(50))
      return user
    }

    @Test("nothing of a deleted user is in any table, and what is others' is", arguments: cells)
    func traces(_ engine: StoreEngine, _ publicRecords: UserDeletion.PublicRecords) async throws {
      try await engine.withStore { test in
        let user = try await begin(test, publicRecords)
        #expect(try await !test.tables(having: ["MARK-"]).isEmpty)
        let waiting = try await test.continueDeletions()
        #expect(waiting?.stage == .dispatch && waiting?.state == .waiting)
        try await test.dispatchAll(at: 60)
        #expect(try await test.continueDeletions()?.state == .finished)
        try await test.store.maintenance.trim(at: TestStore.time(61))
        let left = try await test.tables(having: user.markers)
        #expect(left == [], "\(left.sorted())")
        #expect(try await test.store.userDeletion.userDeletions().isEmpty)
        #expect(try await test.store.accounts.user(named: UserWithEverything.account) == nil)
        #expect(try await test.record("bobs")?.fields["title"] == .string("changed"))
        let bobs = try await test.store.databases.database(
          at: TestStore.address(.private, owner: TestStore.bob))
        let joint = try #require(
          try await test.record("joint", zone: ZoneID(zoneName: "participant"), in: bobs))
        #expect(joint.created?.userRecordName == UserIdentity.deletedUserRecordName)
        #expect(joint.fields["text"] == .string("stays"))
        #expect(try await test.storedSubscriptions().map(\.subscriber) == [TestStore.bob])
        #expect(
          try await test.store.devices.registrations(ofToken: "bobs-token", kind: .apns).isEmpty
            == false)
        _ = try await test.store.accounts.addUser(
          named: UserWithEverything.account, at: TestStore.time(200))
      }
    }

    @Test(
      "public records that are kept name nobody, and are changed for readers", arguments: engines)
    func kept(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await begin(test, .keep)
        let token = try await test.publicChanges().token
        let before = try #require(try await test.record("public-0"))
        try await test.continueDeletions()
        let record = try #require(try await test.record("public-0"))
        #expect(record.created?.userRecordName == UserIdentity.deletedUserRecordName)
        #expect(record.modified?.userRecordName == UserIdentity.deletedUserRecordName)
        #expect(record.created?.timestamp == before.created?.timestamp)
        #expect(record.modified?.timestamp == before.modified?.timestamp)
        #expect(record.created?.deviceID == nil && record.modified?.deviceID == nil)
        #expect(record.fields == before.fields)
        #expect(record.recordChangeTag != before.recordChangeTag)
        let bobs = try #require(try await test.record("bobs"))
        #expect(bobs.created?.userRecordName == TestStore.bob)
        #expect(bobs.modified?.userRecordName == UserIdentity.deletedUserRecordName)
        let changed = try await test.publicChanges(since: token).names
        #expect(changed.count == 6, "\(changed)")
        let events = try await test.outbox().suffix(6).map(\.change)
        #expect(events.allSatisfy { $0.userRecordName == UserIdentity.deletedUserRecordName })
        #expect(events.filter { $0.event == .recordUpdated }.count == 5)
        // The asset stays with its record.
        let asset = try #require(record.fields["file"]?.assets.first)
        #expect(try await test.bytes(of: asset) == Data("kept-public-bytes".utf8))
      }
    }

    @Test("public records that go are deleted for readers and subscribers", arguments: engines)
    func deleted(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await begin(test, .delete)
        let token = try await test.publicChanges().token
        try await test.continueDeletions()
        #expect(try await test.record("public-0") == nil)
        let bobs = try #require(try await test.record("bobs"))
        #expect(bobs.modified?.userRecordName == UserIdentity.deletedUserRecordName)
        #expect(try await test.publicChanges(since: token).names.count == 6)
        let events = try await test.outbox().filter { $0.change.event == .recordDeleted }
        #expect(events.contains { $0.change.record?.recordID.recordName == "public-3" })
        let logged = try await test.dispatch(at: 60).logged
        try await test.dispatchAll(at: 60)
        #expect(logged.contains { $0.notification.subscriber == TestStore.bob })
      }
    }

    @Test("a user who is being deleted can do nothing, and the name is taken", arguments: engines)
    func access(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let identity = IssuedIdentity(issuer: "https://issuer", subject: "anna")
        let user = try await store.accounts.user(
          boundTo: identity, proposing: "anna", profile: UserProfile(), at: TestStore.time(1))
        let name = user.userRecordName
        try await store.accounts.setPasswordHash("hash", ofUserNamed: "anna", at: TestStore.time(1))
        try await store.accounts.addWebAuthToken(
          WebAuthToken(
            hash: [1], userRecordName: name, created: TestStore.time(1),
            expires: TestStore.time(1_000)))
        let own = try await store.databases.database(at: TestStore.address(.private, owner: name))
        try await test.save("n", in: own, by: name)
        let deletion = try await store.userDeletion.beginUserDeletion(
          named: "anna", publicRecords: .keep, at: TestStore.time(5))
        #expect(deletion.name == "anna" && deletion.userRecordName == name)
        #expect(try await store.accounts.webAuthToken(withHash: [1]) == nil)
        #expect(try await store.accounts.passwordHash(ofUserNamed: "anna") == nil)
        #expect(try await store.accounts.user(named: "anna")?.isBeingDeleted == true)
        for when in ["while it goes on", "when it is over"] {
          await refused(when) { _ = try await test.save("n", in: own, by: name) }
          await refused(when) { _ = try await test.save("n", by: name) }
          await refused(when) { _ = try await test.subscribe(noteSubscription("s"), as: name) }
          await refused(when) { try await test.register("token", user: name) }
          await refused(when) {
            try await store.accounts.addWebAuthToken(
              WebAuthToken(
                hash: [2], userRecordName: name, created: TestStore.time(6),
                expires: TestStore.time(1_000)))
          }
          await refused(when) {
            _ = try await store.databases.database(
              at: DatabaseAddress(
                container: "iCloud.other", environment: .production, scope: .private, owner: name))
          }
          await refused(when) {
            _ = try await test.upload("late", receipt: "late", by: name)
          }
          await refused(when) {
            try await store.accounts.setApplicationPermissions(
              [.userDiscoverability: .granted],
              by: ContainerMaker(userRecordName: name, timestamp: Timestamp(milliseconds: 0)),
              container: "c", environment: .production)
          }
          guard when == "while it goes on" else { break }
          await refused(when) {
            _ = try await store.accounts.user(
              boundTo: identity, proposing: "anna", profile: UserProfile(), at: TestStore.time(6))
          }
          let taken = await #expect(throws: StoreError.self) {
            _ = try await store.accounts.addUser(named: "anna", at: TestStore.time(6))
          }
          #expect(taken?.code == .exists)
          try await test.continueDeletions()
        }
        #expect(try await store.userDeletion.userDeletions().isEmpty)
        #expect(
          try await store.databases.existingDatabase(
            at: TestStore.address(.private, owner: name)) == nil)
        // The same person comes as somebody new.
        let next = try await store.accounts.user(
          boundTo: identity, proposing: "anna", profile: UserProfile(), at: TestStore.time(200))
        #expect(next.userRecordName != name)
        #expect(next.name == "anna")
      }
    }

    private func refused(_ when: String, _ body: () async throws -> Void) async {
      let error = await #expect(throws: StoreError.self, "\(when)") { try await body() }
      #expect(error?.code == .userDeleted, "\(when)")
    }

    @Test(
      "a deletion that has begun goes on as it was begun; nobody else can be", arguments: engines)
    func again(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        _ = try await test.store.accounts.addUser(named: "anna", at: TestStore.time(1))
        let first = try await store.userDeletion.beginUserDeletion(
          named: "anna", publicRecords: .delete, at: TestStore.time(5))
        #expect(
          try await store.userDeletion.beginUserDeletion(
            named: "anna", publicRecords: .keep, at: TestStore.time(9)) == first)
        #expect(try await store.userDeletion.userDeletions() == [first])
        let error = await #expect(throws: StoreError.self) {
          _ = try await store.userDeletion.beginUserDeletion(
            named: "nobody", publicRecords: .keep, at: TestStore.time(9))
        }
        #expect(error?.code == .notFound)
        try await test.continueDeletions()
        #expect(try await store.maintenance.continueUserDeletion(at: TestStore.time(10)) == nil)
        // What was kept to refuse late requests goes, too.
        try await test.store.maintenance.trim(at: TestStore.time(100 + 25 * 3600))
        let rows = try await test.rowCount(of: "user_deletions")
        #expect(rows == 0)
      }
    }

    @Test("several processes take the steps of several deletions together", arguments: engines)
    func together(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for user in 0..<3 {
          let name = "user\(user)"
          let made = try await test.store.accounts.addUser(named: name, at: TestStore.time(1))
          let own = try await test.store.databases.database(
            at: TestStore.address(.private, owner: made.userRecordName))
          for record in 0..<20 {
            try await test.save(
              "r\(record)", ["x": .string("MARK")], in: own, by: made.userRecordName)
          }
          _ = try await test.store.userDeletion.beginUserDeletion(
            named: name, publicRecords: .keep, at: TestStore.time(2))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<4 { group.addTask { try await test.continueDeletions() } }
          try await group.waitForAll()
        }
        #expect(try await test.tables(having: ["MARK"]).isEmpty)
        #expect(try await test.store.accounts.users().isEmpty)
        #expect(try await test.store.userDeletion.userDeletions().isEmpty)
      }
    }

    @Test("two servers on one PostgreSQL take the steps of one deletion together")
    func servers() async throws {
      let schema = try await PostgreSQLServer.shared.makeStore()
      let location = StoreLocation.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil)
      var stores: [TestStore] = []
      for _ in 0..<2 {
        stores.append(try await TestStore(try await Store.open(at: location)))
      }
      let (first, second) = (stores[0], stores[1])
      let user = try await begin(first, .delete)
      // The other server has seen the user before, and knows of the deletion all the same.
      await refused("at the other server") {
        _ = try await second.save("late", in: user.privateID, by: user.user.userRecordName)
      }
      for _ in 0..<2 {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for store in stores { group.addTask { try await store.continueDeletions() } }
          try await group.waitForAll()
        }
        try await first.dispatchAll(at: 60)
      }
      #expect(try await second.store.userDeletion.userDeletions().isEmpty)
      #expect(try await first.tables(having: ["MARK-"]) == [])
      for store in stores { await store.store.close() }
      try await PostgreSQLServer.shared.drop(schema)
    }

    @Test("a deletion in PostgreSQL goes on in a process that begins after any of its steps")
    func restarts() async throws {
      let schema = try await PostgreSQLServer.shared.makeStore()
      let location = StoreLocation.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil)
      func open() async throws -> (Store, TestStore) {
        let store = try await Store.open(at: location)
        return (store, try await TestStore(store))
      }
      var (store, test) = try await open()
      let user = try await begin(test, .delete)
      var steps = 0
      while let deletion = try await store.maintenance.continueUserDeletion(at: TestStore.time(100))
      {
        if deletion.state == .waiting { try await test.dispatchAll(at: 60) }
        steps += 1
        await store.close()
        (store, test) = try await open()
      }
      #expect(steps > 10)
      #expect(try await store.userDeletion.userDeletions().isEmpty)
      #expect(try await test.tables(having: user.markers) == [])
      #expect(try await test.record("bobs")?.fields["title"] == .string("changed"))
      await store.close()
      try await PostgreSQLServer.shared.drop(schema)
    }

    @Test("a step is bounded, however much there is", arguments: [StoreEngine.sqliteInMemory])
    func bounded(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let user = try await test.store.accounts.addUser(named: "anna", at: TestStore.time(1))
        let own = try await test.store.databases.database(
          at: TestStore.address(.private, owner: user.userRecordName))
        for start in stride(from: 0, to: 2_000, by: 200) {
          _ = try await test.modify(
            (start..<start + 200).map {
              RecordOperation(
                kind: .create, recordID: RecordID(recordName: "r\($0)"), recordType: "Note",
                fields: ["x": .int64(Int64($0))])
            }, in: own, by: user.userRecordName)
        }
        _ = try await test.store.userDeletion.beginUserDeletion(
          named: "anna", publicRecords: .keep, at: TestStore.time(2))
        var done = 0
        while let next = try await test.store.maintenance.continueUserDeletion(
          at: TestStore.time(3))
        {
          #expect(next.done - done <= Int(UserDeletionStep.batch) + 10)
          done = next.done
        }
        #expect(done > 4_000)
      }
    }
  }
}

extension TestStore {
  /// A page of the public database's feed.
  fileprivate func publicChanges(since token: String? = nil) async throws -> RecordChangesPage {
    let query = RecordChangesQuery(
      zoneID: .default, token: token, limit: 200, sizeLimit: .max,
      caller: .administrator(userRecordName: "_operator"))
    return try await store.changeFeeds.recordChanges(matching: query, in: publicID)
  }

  fileprivate func rowCount(of table: String) async throws -> Int {
    return try await store.transactions.read {
      try $0.connection.first("SELECT COUNT(*) FROM \(table)", []) { Int($0.integer(0)) } ?? -1
    }
  }
}
