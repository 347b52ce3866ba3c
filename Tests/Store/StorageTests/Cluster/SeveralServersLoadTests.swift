import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Synchronization
import Testing

/// Writers of two servers, on few databases and few names, so that they meet all the time.
struct SeveralServersLoadTests {
  /// Where those who write note what was acknowledged.
  private final class Ledger: Sendable {
    let entries = Mutex(Acknowledged())
  }

  private struct Acknowledged {
    var records: [RecordID: Record] = [:]
    var tallies = 0
    var zones: Set<String> = []
    var subscriptions: Set<SubscriptionName> = []
    var users: [String] = []
    /// Changes of the public database to records of the type that is watched.
    var watched = 0
  }

  private static let steps = 60
  private static let workers = 4
  private static let zone = ZoneID(zoneName: "z0")

  @Test("whatever both acknowledge is there once, in one order", arguments: Seeds.some(1))
  func load(seed: Int) async throws {
    try await ServerGroup.with(servers: 2) { group in
      let first = group.servers[0]
      try await first.makeZone("z0")
      try await first.save("tally", ["count": .int64(0)], zone: Self.zone, in: first.privateID)
      for user in ["_u0", "_u1", "_u2"] {
        _ = try await first.subscribe(noteSubscription("s", badge: true), as: user)
      }
      for token in 0..<4 { try await first.register("fixed\(token)", user: "_u\(token % 3)") }
      let ledger = Ledger()
      let isOver = Flag()
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for (number, server) in group.servers.enumerated() {
          tasks.addTask {
            try await Self.follow(server, until: { isOver.isUp || Task.isCancelled })
          }
          tasks.addTask {
            while !isOver.isUp, !Task.isCancelled { try await Self.dispatch(server) }
          }
          tasks.addTask {
            try await withThrowingTaskGroup(of: Void.self) { workers in
              for worker in 0..<Self.workers {
                let name = "\(number)-\(worker)"
                workers.addTask {
                  var generator = SeededGenerator(seed: seed * 100 + number * 10 + worker)
                  try await Self.work(name, on: server, &generator, ledger)
                }
              }
              try await workers.waitForAll()
            }
          }
        }
        // The workers end by themselves, and those beside them then.
        while try await tasks.next() != nil {
          if ledger.entries.withLock({ $0.users.count }) == 2 * Self.workers * Self.steps {
            isOver.raise()
          }
        }
      }
      try await Self.dispatch(first)
      try await Self.check(group, ledger.entries.withLock { $0 })
    }
  }

  // MARK: Those who write

  private static func work(
    _ name: String, on server: TestStore, _ generator: inout SeededGenerator,
    _ ledger: Ledger
  ) async throws {
    for step in 0..<steps {
      switch Int.random(in: 0..<14, using: &generator) {
      case 0..<5:
        let isPublic = generator.chance(1, in: 2)
        let type = generator.pick(["Note", "T0", "T1", "T2"])
        let zone = isPublic ? ZoneID.default : Self.zone
        let field = "f\(Int.random(in: 0..<6, using: &generator))"
        let record = try await server.save(
          "\(name)-\(step)", type: type, [field: .int64(Int64(step))], zone: zone,
          in: isPublic ? server.publicID : server.privateID)
        ledger.entries.withLock {
          $0.records[record.recordID] = record
          if isPublic, type == "Note" { $0.watched += 1 }
        }
      case 5, 6:
        try await raiseTally(on: server, ledger)
      case 7:
        let zone = ZoneID(zoneName: "z\(Int.random(in: 0..<4, using: &generator))")
        let outcomes = try await server.store.zones.modifyZones(
          [.create(zone)], in: server.privateID,
          origin: ChangeOrigin(userRecordName: TestStore.alice), timestamp: TestStore.time(0))
        guard case .saved = outcomes[0] else { throw StoreError(.notFound, "\(outcomes)") }
        ledger.entries.withLock { _ = $0.zones.insert(zone.zoneName) }
      case 8, 9:
        let type = generator.pick(["T0", "T1", "T2", "T3", "T4", "T5"])
        let subscription = Subscription(
          subscriptionID: "\(step)",
          kind: .query(Query(recordType: type), zoneID: nil, options: .events))
        let outcome = try await server.subscribe(subscription, as: "_worker\(name)")
        if let failure = outcome.failure { throw failure }
        ledger.entries.withLock {
          _ = $0.subscriptions.insert(
            SubscriptionName(subscriber: "_worker\(name)", subscriptionID: "\(step)"))
        }
      case 10, 11:
        try await server.register(
          "moving\(Int.random(in: 0..<3, using: &generator))",
          user: "_u\(Int.random(in: 0..<3, using: &generator))")
      case 12:
        try await server.store.devices.setBadge(
          0,
          of: Recipient(
            userRecordName: "_nobody", container: TestStore.container, environment: .development))
        _ = try await server.delete("none-\(name)-\(step)")
      default:
        try await server.store.maintenance.trim(at: TestStore.time(10))
      }
      let user = "user\(Int.random(in: 0..<20, using: &generator))"
      let isNew: Bool
      do {
        _ = try await server.store.accounts.addUser(named: user, at: .now)
        isNew = true
      } catch let error as StoreError where error.code == .exists {
        isNew = false
      }
      ledger.entries.withLock { $0.users.append(isNew ? user : "") }
    }
  }

  /// Adds one to a record that others change too, as devices do: by its change tag.
  private static func raiseTally(
    on server: TestStore, _ ledger: Ledger
  ) async throws {
    let current = try #require(
      try await server.record("tally", zone: zone, in: server.privateID))
    guard case .int64(let count) = current.fields["count"] else { return }
    let operation = RecordOperation(
      kind: .update, recordID: current.recordID, recordType: "Note",
      recordChangeTag: current.recordChangeTag, fields: ["count": .int64(count + 1)])
    switch try await server.modify([operation], in: server.privateID)[0] {
    case .saved: ledger.entries.withLock { $0.tallies += 1 }
    case .failed(let failure): #expect(failure.code == .conflict, "\(failure)")
    case .deleted: Issue.record("a save deleted")
    }
  }

  private static func dispatch(_ server: TestStore) async throws {
    do {
      try await server.dispatch(server.publicID)
    } catch let error as StoreError where error.code == .outOfOrder {
      // Both dispatch, and the other one was quicker.
    }
  }

  /// Follows the feed of a zone while it is written to, and compares the feed's contents with the
  /// final records.
  private static func follow(_ server: TestStore, until isOver: () -> Bool) async throws {
    var told: [RecordID: Record] = [:]
    var token: String?
    var isLast = false
    while true {
      let wasOver = isOver()
      let page = try await server.changes(in: zone, since: token, limit: 7)
      for case .saved(let record) in page.changes { told[record.recordID] = record }
      token = page.token
      if page.hasMore { continue }
      if isLast { break }
      isLast = wasOver
    }
    var all: [RecordID: Record] = [:]
    for case .saved(let record) in try await server.allChanges(in: zone).changes {
      all[record.recordID] = record
    }
    #expect(told == all)
  }

  // MARK: What there is in the end

  private static func check(_ group: ServerGroup, _ acknowledged: Acknowledged) async throws {
    let test = group.servers[1]
    for (id, record) in acknowledged.records {
      let isPublic = id.zoneID.isDefaultZone
      let stored = try await test.record(
        id.recordName, zone: id.zoneID, in: isPublic ? test.publicID : test.privateID)
      #expect(stored == record)
    }
    let tally = try await test.record("tally", zone: zone, in: test.privateID)
    #expect(tally?.fields["count"] == .int64(Int64(acknowledged.tallies)))
    let users = acknowledged.users.filter { !$0.isEmpty }
    #expect(Set(users).count == users.count)
    #expect(Set(try await test.store.accounts.users().map(\.name)) == Set(users))
    #expect(
      Set(try await test.store.zones.zones(in: test.privateID).map(\.zoneID.zoneName))
        .isSuperset(of: acknowledged.zones))
    let subscriptions = try await test.storedSubscriptions().map(\.name)
    #expect(Set(subscriptions).isSuperset(of: acknowledged.subscriptions))
    #expect(subscriptions.count == acknowledged.subscriptions.count + 3)

    // Numbers of types and fields are drawn without a gap, those of a database once.
    for (counter, table, column) in [
      ("record_type", "record_types", "type_number"),
      ("record_field", "record_fields", "field_number"),
      ("push_route", "push_routes", "route"),
    ] {
      let drawn = try await group.integers("SELECT value FROM counters WHERE name = '\(counter)'")
      let used = try await group.integers("SELECT \(column) FROM \(table) ORDER BY \(column)")
      #expect(used == Array(1...drawn[0]), "\(table)")
    }
    for database in [test.publicID, test.privateID].map(\.rawValue) {
      let place = "WHERE database_id = \(database)"
      let numbers = try await group.integers(
        """
        SELECT version FROM records \(place)
        UNION ALL SELECT sequence FROM notification_log \(place)
        UNION ALL SELECT number FROM deliveries \(place)
        """)
      #expect(Set(numbers).count == numbers.count)
      let last = try await group.integers("SELECT last_number FROM databases \(place)")
      #expect(numbers.allSatisfy { $0 <= last[0] })
      #expect(
        try await group.integers(
          """
          SELECT COUNT(*) FROM records JOIN zones USING (database_id, zone_number) \(place)
            AND records.version > zones.version
          """) == [0])
    }

    // Each watched change is logged once for each of the three who watch.
    let logged = try await group.integers(
      "SELECT COUNT(*) FROM notification_log WHERE subscriber IN ('_u0', '_u1', '_u2')")
    #expect(logged == [Int64(3 * acknowledged.watched)])
    let badges = try await group.integers(
      "SELECT badge FROM device_tokens WHERE token LIKE 'fixed%' ORDER BY token")
    #expect(badges == Array(repeating: Int64(acknowledged.watched), count: 4))
    // Nothing is owed to a device for another user's notification.
    #expect(
      try await group.integers(
        """
        SELECT COUNT(*) FROM deliveries
        JOIN notification_log ON notification_log.database_id = deliveries.database_id
          AND notification_log.sequence = deliveries.log_sequence
        JOIN device_numbers ON device_numbers.device = deliveries.device
        JOIN device_tokens ON device_tokens.token = device_numbers.token
          AND device_tokens.container = device_numbers.container
        WHERE state = 0 AND subscriber <> user_record_name
        """) == [0])
  }
}
