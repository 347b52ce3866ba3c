import CloudKitModel
import Foundation
import Testing

@testable import Storage

@Suite("The store's file")
struct StoreFileTests {
  private func fresh(_ role: StoreConfiguration.Role = .server) -> StoreConfiguration {
    var configuration = StoreConfiguration(role: role)
    configuration.tuning.cacheKilobytes = 4096
    return configuration
  }

  @Test("what was acknowledged is in a copy of the files taken while the store is open")
  func copyWhileOpen() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let store = try await SQLRecordStore.open(at: path, configuration: fresh())
      let test = try await TestStore(store)
      _ = try await test.subscribe(noteSubscription("s"))
      let saved = try await test.save("n", ["x": .int64(1)])
      let outbox = try await test.outbox()
      // A process that is killed leaves just these files behind.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: path + suffix, toPath: directory + "/b.sqlite" + suffix)
      }
      await store.close()
      let copy = try await SQLRecordStore.open(
        at: directory + "/b.sqlite", configuration: fresh())
      let reopened = try await TestStore(copy)
      #expect(reopened.publicID == test.publicID)
      #expect(try await reopened.record("n") == saved)
      #expect(try await reopened.outbox() == outbox)
      #expect(try await reopened.storedSubscriptions().count == 1)
      #expect(try await copy.undispatchedDatabases() == [test.publicID])
      #expect(try await reopened.dispatch().logged.count == 1)
      // Numbers go on where they stood.
      let later = try await reopened.save("m")
      #expect(later.recordChangeTag != saved.recordChangeTag)
      await copy.close()
    }
  }

  @Test("a second server is refused, a tool is let in and writes beside it")
  func roles() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let server = try await SQLRecordStore.open(at: path, configuration: fresh())
      let refused = await storeError {
        _ = try await SQLRecordStore.open(at: path, configuration: fresh())
      }
      #expect(refused == .cannotOpen)
      let tool = try await SQLRecordStore.open(at: path, configuration: fresh(.tool))
      let user = try await tool.addUser(named: "zoe", at: .now)
      #expect(try await server.user(named: "zoe") == user)
      let test = try await TestStore(server)
      try await test.watch()
      try await test.save("n", ["x": .int64(1)])
      let beside = try await TestStore(tool)
      try await beside.save("m", ["x": .int64(2), "y": .string("new field")])
      try await test.save("n", ["y": .string("known by now")])
      #expect(try await test.outbox().count == 3)
      await tool.close()
      await server.close()
      let next = try await SQLRecordStore.open(at: path, configuration: fresh())
      await next.close()
    }
  }

  @Test("a file that is no store is refused with its path")
  func noStore() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/text"
      try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: path))
      do {
        _ = try await SQLRecordStore.open(at: path, configuration: fresh())
        Issue.record("a text file was taken for a store")
      } catch let error as StoreError {
        #expect(error.code == .cannotOpen)
        #expect(error.reason.contains(path))
      }
      let nowhere = await storeError {
        _ = try await SQLRecordStore.open(at: directory + "/no/such/file", configuration: fresh())
      }
      #expect(nowhere == .cannotOpen)
    }
  }

  @Test("migrations run in order, once each, and a newer store is refused")
  func migrations() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let newest = try #require(Schema.migrations.last).version
      let second = Migration(
        version: newest + 1,
        statements: [
          "CREATE TABLE extra (name TEXT PRIMARY KEY)", "INSERT INTO extra VALUES ('two')",
        ])
      let third = Migration(version: newest + 2, statements: ["INSERT INTO extra VALUES ('three')"])
      func open(_ migrations: [Migration]) async throws -> SQLRecordStore {
        try await SQLRecordStore.open(
          path: path, configuration: fresh(), migrations: migrations)
      }
      func extras(_ store: SQLRecordStore) async throws -> [String] {
        try await store.read {
          try $0.connection.rows("SELECT name FROM extra ORDER BY name", []) { $0.text(0) }
        }
      }
      let first = try await open(Schema.migrations)
      let saved = try await TestStore(first).save("n")
      await first.close()
      for _ in 0..<2 {
        let migrated = try await open(Schema.migrations + [second, third])
        #expect(try await extras(migrated) == ["three", "two"])
        #expect(try await TestStore(migrated).record("n") == saved)
        await migrated.close()
      }
      #expect(await storeError { _ = try await open(Schema.migrations) } == .newerSchema)
      // One that fails leaves the store as it was.
      let broken = Migration(
        version: newest + 3, statements: ["INSERT INTO extra VALUES ('four')", "NONSENSE"])
      let all = Schema.migrations + [second, third]
      #expect(await storeError { _ = try await open(all + [broken]) } == .statementFailed)
      let intact = try await open(all)
      #expect(try await extras(intact) == ["three", "two"])
      await intact.close()
    }
  }

  /// Makes a database as it was made in every form of the store before addresses had a table.
  private static func makeDatabase(
    at address: DatabaseAddress, in store: SQLRecordStore
  ) async throws -> DatabaseID {
    try await store.write { session in
      for statement in [
        "UPDATE counters SET value = 1 WHERE name = 'database'",
        """
        INSERT INTO zones (database_id, zone_number, zone_name, owner_name, version)
        VALUES (1, 1, '_defaultZone', '__defaultOwner__', 1)
        """,
      ] {
        try session.connection.run(statement, [])
      }
      try session.connection.run(
        """
        INSERT INTO databases (database_id, container, environment, scope, owner, last_number,
          subscription_version, forgotten_version)
        VALUES (1, $1, $2, $3, '', 1, 0, 0)
        """,
        [
          .text(address.container), .text(address.environment.rawValue),
          .integer(Int64(address.scope.rawValue)),
        ])
    }
    return DatabaseID(rawValue: 1)
  }

  @Test("types, fields and subscriptions from before there were schemas go on as they were")
  func schemas() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let first = try await SQLRecordStore.open(
        path: path, configuration: fresh(), migrations: Array(Schema.migrations.prefix(6)))
      var address = TestStore.address(.public)
      address.environment = .production
      let database = try await Self.makeDatabase(at: address, in: first)
      let filter = Filter(.field("title"), .equals, .string("x"))
      let subscription = noteSubscription("s", filters: [filter])
      let place: [SQLValue] = [.text(address.container), .text(address.environment.rawValue)]
      try await first.write { session in
        try session.connection.run(
          """
          INSERT INTO record_types (type_number, container, environment, name)
          VALUES (1, $1, $2, 'Note')
          """, place)
        for (number, (name, type)) in [
          ("title", "STRING"), ("secret", "ENCRYPTED STRING"), ("data", "BYTES"),
          ("___createTime", "TIMESTAMP"),
        ].enumerated() {
          try session.connection.run(
            """
            INSERT INTO record_fields (field_number, type_number, name, value_type)
            VALUES ($1, 1, $2, $3)
            """, [.integer(Int64(number + 1)), .text(name), .text(type)])
        }
        try session.connection.run(
          """
          INSERT INTO subscriptions
            (database_id, subscriber, subscription_id, first_version, version, content)
          VALUES ($1, $2, 's', 1, 1, $3)
          """,
          [
            .integer(database.rawValue), .text(TestStore.alice),
            .bytes(subscription.storedContent),
          ])
      }
      await first.close()
      let migrated = try await SQLRecordStore.open(at: path, configuration: fresh())
      let schema = try await migrated.schema(of: TestStore.container, in: .production)
      #expect(
        schema.recordTypes == [
          "Note": .init(
            fields: [
              "title": .init(.init(.string), indexes: [.queryable, .sortable, .searchable]),
              "secret": .init(.init(.string), isEncrypted: true), "data": .init(.init(.bytes)),
            ], systemIndexes: SystemField.implicitIndexes)
        ])
      // Production is fixed, and yet takes what it had.
      let test = try await TestStore(migrated)
      try await test.save("n", ["title": .string("x")], in: database)
      #expect(try await test.subscribe(subscription, in: database).failure == nil)
      await migrated.close()
    }
  }

  @Test("entries of the notification log from before they had an ID column are found by ID")
  func notificationIDs() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let first = try await SQLRecordStore.open(
        path: path, configuration: fresh(), migrations: [Schema.migrations[0]])
      let database = try await Self.makeDatabase(at: TestStore.address(.public), in: first)
      let notifications = (0..<1200).map { _ in
        SubscriptionNotification(
          database: TestStore.address(.public), subscriber: TestStore.alice,
          subscription: noteSubscription("s"),
          change: Change(
            event: .recordCreated, zoneID: .default, record: nil, notificationID: UUID(),
            timestamp: TestStore.time(0)))
      }
      try await first.write { session in
        var numbers = try NumberSupply(of: database, count: notifications.count, from: session)
        for notification in notifications {
          try session.connection.run(
            """
            INSERT INTO notification_log
              (database_id, sequence, subscriber, origin_device, logged, content)
            VALUES ($1, $2, $3, NULL, 0, $4)
            """,
            [
              .integer(database.rawValue), .integer(try numbers.take(from: session)),
              .text(notification.subscriber), .bytes(notification.storedContent),
            ])
        }
        try session.connection.run(
          "INSERT INTO subscriber_databases (database_id, subscriber) VALUES ($1, $2)",
          [.integer(database.rawValue), .text(TestStore.alice)])
      }
      await first.close()
      let migrated = try await SQLRecordStore.open(at: path, configuration: fresh())
      let log = try await TestStore(migrated)
      let page = try await log.log(limit: 2000)
      #expect(page.notifications.count == 1200)
      let ids = notifications.map(\.change.notificationID)
      #expect(try await log.mark(ids, at: 1) == Set(ids))
      #expect(try await log.log(since: page.token, limit: 2000).notifications.count == 1200)
      await migrated.close()
    }
  }

  @Test("a history of dispatched changes that was kept apart goes on, and so does what waited")
  func separateHistory() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let first = try await SQLRecordStore.open(
        path: path, configuration: fresh(), migrations: Array(Schema.migrations.prefix(20)))
      let database = try await Self.makeDatabase(at: TestStore.address(.public), in: first)
      @Sendable func change(_ name: String) -> Change {
        Change(
          event: .recordCreated, zoneID: .default,
          record: Record(recordID: RecordID(recordName: name), recordType: "Note"),
          notificationID: UUID(), timestamp: TestStore.time(0))
      }
      @Sendable func content(_ name: String) -> SQLValue {
        var encoder = RowEncoder(reserving: 100)
        encoder.encode(change(name))
        return .bytes(encoder.bytes)
      }
      try await first.write { session in
        try session.connection.run(
          "UPDATE databases SET last_number = 100 WHERE database_id = $1",
          [.integer(database.rawValue)])
        for (slot, (sequence, name, content)) in [
          (31, "third", content("third")), (11, "first", content("first")), (21, "large", .null),
        ].enumerated() {
          try session.connection.run(
            """
            INSERT INTO change_history (database_id, slot, sequence, subscription_version,
              dispatched, record_name, content)
            VALUES ($1, $2, $3, 1, $4, $5, $6)
            """,
            [
              .integer(database.rawValue), .integer(Int64(slot)), .integer(Int64(sequence)),
              .integer(TestStore.time(Int64(sequence)).milliseconds), .text(name), content,
            ])
        }
        for (sequence, name, subscriber) in [(41, "begun", "_alice"), (51, "waits", nil)] {
          try session.connection.run(
            """
            INSERT INTO outbox (database_id, sequence, subscription_version, content,
              settled_subscriber, settled_subscription)
            VALUES ($1, $2, 1, $3, $4, $5)
            """,
            [
              .integer(database.rawValue), .integer(Int64(sequence)), content(name),
              SQLValue(subscriber), SQLValue(subscriber.map { _ in "s" }),
            ])
        }
      }
      await first.close()
      let migrated = try await SQLRecordStore.open(at: path, configuration: fresh())
      let past = try await migrated.pastChanges(of: nil, in: database, before: nil, limit: 9)
      #expect(past.map(\.sequence) == [31, 21, 11])
      #expect(past.map(\.recordName) == ["third", "large", "first"])
      #expect(past.map { $0.change == nil } == [false, true, false])
      #expect(past.map(\.dispatched) == [31, 21, 11].map { TestStore.time($0) })
      let waiting = try await TestStore(migrated).outbox()
      #expect(waiting.map(\.change.record?.recordID.recordName) == ["begun", "waits"])
      #expect(
        waiting.map(\.settledThrough) == [
          SubscriptionName(subscriber: "_alice", subscriptionID: "s"), nil,
        ])
      #expect(try await migrated.undispatchedDatabases() == [database])
      try await TestStore(migrated).dispatch(at: 60)
      #expect(try await migrated.undispatchedDatabases().isEmpty)
      let then = try await migrated.pastChanges(of: nil, in: database, before: nil, limit: 9)
      #expect(then.map(\.sequence) == [51, 41, 31, 21, 11])
      await migrated.close()
    }
  }

  @Test("closing copies the log into the database")
  func logAfterClose() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      for round in 0..<10 {
        let store = try await SQLRecordStore.open(at: path, configuration: fresh())
        try await TestStore(store).save("n\(round)")
        await store.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
      }
    }
  }

  @Test("a closed store says so, and finishes what waits before it closes")
  func closing() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let store = try await SQLRecordStore.open(at: path, configuration: fresh())
      let test = try await TestStore(store)
      try await test.watch()
      let outcomes = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
          group.addTask { (try? await test.save("n\(number)")) != nil }
        }
        group.addTask {
          await store.close()
          return false
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(await storeError { try await test.save("late") } == .closed)
      #expect(await storeError { _ = try await store.users() } == .closed)
      await store.close()
      let again = try await SQLRecordStore.open(at: path, configuration: fresh())
      #expect(try await TestStore(again).outbox().count == outcomes)
      await again.close()
    }
  }
}
