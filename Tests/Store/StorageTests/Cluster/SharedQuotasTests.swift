import CloudKitModel
import PropertyTesting
import Storage
import StoreModel
import Testing

/// Two servers that save for the same user, database and container at the same time: what each has at
/// most, it has at most on both together.
struct SharedQuotasTests {
  /// Runs `body` with both servers under the same limits.
  private func withServers(
    _ limits: [StoreQuotas.Subject: Int], _ body: (ServerGroup) async throws -> Void
  ) async throws {
    try await ServerGroup.with(servers: 2) { group in
      for server in group.servers { server.store.quotas.limits = limits }
      try await body(group)
    }
  }

  /// Has both add things at the same time, in turn; answers how many were taken.
  private func count(
    _ group: ServerGroup, of total: Int = 40,
    add: @escaping @Sendable (TestStore, Int) async throws -> Bool
  ) async throws -> Int {
    try await withThrowingTaskGroup(of: Bool.self) { tasks in
      for number in 0..<total {
        tasks.addTask { try await add(group.servers[number % 2], number) }
      }
      return try await tasks.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
  }

  private func refusals(_ group: ServerGroup, _ subject: StoreQuotas.Subject) -> Int {
    group.servers.reduce(0) { $0 + ($1.store.quotas.refusals[subject] ?? 0) }
  }

  @Test("subscriptions of a user")
  func subscriptions() async throws {
    try await withServers([.subscriptionsPerUser: 7]) { group in
      let taken = try await count(group) { server, number in
        try await server.subscribe(noteSubscription("s\(number)")).failure == nil
      }
      #expect(taken == 7 && refusals(group, .subscriptionsPerUser) >= 33)
      let test = group.servers[1]
      #expect(
        try await test.store.subscriptions.subscriptions(of: TestStore.alice, in: test.publicID)
          .count == 7)
    }
  }

  @Test("containers that users create")
  func containers() async throws {
    try await withServers([.containers: 9, .newContainersPerUser: 5]) { group in
      let taken = try await count(group) { server, number in
        do {
          _ = try await server.store.databases.database(
            at: DatabaseAddress(
              container: "iCloud.n\(number)", environment: .development, scope: .public, owner: nil),
            for: ContainerMaker(
              userRecordName: number % 4 < 2 ? TestStore.alice : TestStore.bob,
              timestamp: TestStore.time(0)))
          return true
        } catch let failure as ItemFailure where failure.code == .quotaExceeded {
          return false
        }
      }
      // The container of the tests is the ninth.
      #expect(taken == 8, "\(taken)")
    }
  }

  @Test("zones of a database")
  func zones() async throws {
    try await withServers([.zonesPerDatabase: 6]) { group in
      let taken = try await count(group) { server, number in
        let outcomes = try await server.store.zones.modifyZones(
          [.create(ZoneID(zoneName: "z\(number)"))], in: server.privateID,
          origin: ChangeOrigin(userRecordName: TestStore.alice), timestamp: TestStore.time(0))
        if case .failed = outcomes[0] { return false }
        return true
      }
      // With the default zone, where the database has it already.
      let test = group.servers[1]
      let zones = try await test.store.zones.zones(in: test.privateID)
      #expect(zones.count == 6 && (5...6).contains(taken), "\(taken)")
    }
  }

  @Test("devices of a user")
  func devices() async throws {
    try await withServers([:]) { group in
      let taken = try await count(group) { server, number in
        try await server.store.devices.saveDeviceToken(
          DeviceToken(
            kind: .apns, token: "token \(number)", container: TestStore.container,
            environment: .development, apnsEnvironment: .development,
            userRecordName: TestStore.alice, deviceID: nil, registered: TestStore.time(1)),
          unlessBeyond: 9)
      }
      #expect(taken == 9 && refusals(group, .apnsDevicesPerUser) == 31)
      let kept = try await group.servers[1].store.devices.deviceTokens(of: TestStore.alice)
      #expect(kept.count == 9)
    }
  }

  @Test("record types of a container, and fields of a type, saved in two databases")
  func types() async throws {
    try await withServers([.recordTypes: 5, .fieldsPerRecordType: 6]) { group in
      @Sendable func save(
        _ server: TestStore, _ name: String, type: String, _ field: String, isPublic: Bool
      ) async throws -> Bool {
        try await server.modify(
          [
            RecordOperation(
              kind: .forceUpdate, recordID: RecordID(recordName: name), recordType: type,
              fields: [field: .int64(1)])
          ], in: isPublic ? server.publicID : server.privateID)[0].failure == nil
      }
      let types = try await count(group) { server, number in
        try await save(
          server, "r\(number)", type: "T\(number)", "f", isPublic: number % 4 < 2)
      }
      let made = try await group.servers[1].store.schemas.schema(
        of: TestStore.container, in: .development)
      let own = made.recordTypes.filter { $0.key.hasPrefix("T") }
      #expect(
        types == own.count && made.recordTypes.count == 5, "\(types): \(made.recordTypes.keys)")
      let type = try #require(own.keys.sorted().first)
      let fields = try await count(group) { server, number in
        try await save(
          server, "of type", type: type, "f\(number)", isPublic: number % 4 < 2)
      }
      #expect(fields == 5)
      let grown = try await group.servers[0].store.schemas.schema(
        of: TestStore.container, in: .development)
      #expect(grown.recordTypes[type]?.fields.count == 6)
    }
  }

  @Test("bytes of a database, to the byte")
  func bytes() async throws {
    try await ServerGroup.with(servers: 2) { group in
      @Sendable func save(_ server: TestStore, _ number: Int, quota: Int64?) async throws -> Bool {
        var modification = RecordModification(
          database: server.publicID,
          operations: [
            RecordOperation(
              kind: .forceUpdate, recordID: RecordID(recordName: "r\(10 + number)"),
              recordType: "Note", fields: ["text": .string(String(repeating: "t", count: 100))])
          ], isAtomic: false, origin: ChangeOrigin(userRecordName: TestStore.alice),
          isByAdministrator: true, timestamp: TestStore.time(0))
        modification.quota = quota
        return try await server.store.records.modifyRecords(modification)[0].failure == nil
      }
      let test = group.servers[1]
      #expect(try await save(group.servers[0], 0, quota: nil))
      let size = try #require(try await test.store.databases.usage(of: test.publicID)).bytes
      for (quota, winners) in [(12 * size - 1, 11), (12 * size, 12)] {
        _ = try await count(group) { try await save($0, $1, quota: quota) }
        #expect(
          try await test.store.databases.usage(of: test.publicID)?.bytes == Int64(winners) * size)
      }
    }
  }

  // MARK: Deliveries that wait

  private func notify(
    _ server: TestStore, _ name: String, _ backlogs: UserBacklogs
  ) async throws -> DispatchResult {
    try await server.save(name, in: server.publicID)
    let subscriptions = try await server.storedSubscriptions()
    let matched = try await server.outbox().map { entry in
      MatchedChange(
        entry: entry, firings: subscriptions.filter { $0.subscription.matches(entry.change) })
    }
    return try await server.store.outbox.completeDispatch(
      of: matched, timestamp: TestStore.time(1),
      leasing: DeliveryCapacity(
        lease: DeliveryLease(holder: 7, until: TestStore.time(100)), capacities: [:],
        otherCapacity: 0,
        unwritten: .max, backlogs: backlogs, isSetUp: { _ in true }))
  }

  @Test(
    "deliveries that wait for a user pass the limit by what the other server wrote before it counted, once",
    arguments: Seeds.some(2))
  func backlogs(seed: Int) async throws {
    try await ServerGroup.with(servers: 2) { group in
      var random = SeededGenerator(seed: seed)
      let limit = 12
      let first = group.servers[0]
      _ = try await first.subscribe(noteSubscription("s"))
      for token in ["one", "two"] { try await first.register(token) }
      // Both begin when nothing waits, which is when they may be furthest off.
      let backlogs = [UserBacklogs(limit: limit), UserBacklogs(limit: limit)]
      for backlog in backlogs { backlog.begin(owed: 0) }
      func waiting() async throws -> Int {
        try await first.store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 999).count
      }
      var unsent = 0
      for round in 0..<40 {
        let server = Int.random(in: 0...1, using: &random)
        let result = try await notify(group.servers[server], "r\(round)", backlogs[server])
        #expect(result.logged.count == 1, "the log has all")
        unsent += result.unsent.userLimit
        #expect(try await waiting() <= 2 * limit, "seed \(seed), round \(round)")
      }
      let most = try await waiting()
      #expect(most >= limit && unsent == 2 * 40 - most)
      // Each server has counted by now. One delivery less than the limit waits, so none or one more may.
      let due = try await first.store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 999)
      _ = try await first.store.deliveries.updateDeliveries(
        due.dropFirst(limit - 2).map {
          DeliveryUpdate(id: $0.id, state: .delivered(), timestamp: TestStore.time(2))
        })
      for round in 0..<6 {
        _ = try await notify(group.servers[round % 2], "later \(round)", backlogs[round % 2])
        #expect(try await waiting() == limit)
      }
    }
  }
}
