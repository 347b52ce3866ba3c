import CloudKitModel
import PropertyTesting
import Storage
import StoreModel
import Testing

extension RecordStoreConformance {
  struct FeedModel {
    private static let zones = ["x", "y", "z"].map { ZoneID(zoneName: $0) }
    private let origin = ChangeOrigin(userRecordName: TestStore.alice)

    /// Random changes, and clients that read a page now and then, stop for a while, or are put back
    /// to an earlier state of theirs with its tokens. In the end each has what the server has.
    @Test(
      "a client that follows the feeds ends with the server's state",
      arguments: StoreEngine.allCases, Seeds.some(4))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      try await engine.withStore(keepingDeletionsFor: 100) { test in
        var random = SeededGenerator(seed: seed)
        var clients = [FeedClient](repeating: FeedClient(), count: 4)
        for second in 0..<300 {
          try await change(test, at: Int64(second), using: &random)
          if random.chance(1, in: 3) {
            let index = Int.random(in: clients.indices, using: &random)
            try await clients[index].readPage(test, using: &random)
            // Another device goes on from a copy.
            if random.chance(1, in: 6) { clients[random.pick(clients.indices)] = clients[index] }
          }
          if random.chance(1, in: 40) {
            try await test.store.maintenance.trim(at: TestStore.time(Int64(second)))
          }
        }
        let expected = try await state(test)
        for (index, var client) in clients.enumerated() {
          try await client.readAll(test, using: &random)
          #expect(client.state == expected, "seed \(seed), client \(index)")
        }
      }
    }

    private func change(
      _ test: TestStore, at second: Int64, using random: inout SeededGenerator
    ) async throws {
      let zone = random.pick(Self.zones)
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        _ = try await test.store.zones.modifyZones(
          [.delete(zone)], in: test.privateID, origin: origin, timestamp: TestStore.time(second))
      case 1...3:
        _ = try await test.store.zones.modifyZones(
          [.create(zone)], in: test.privateID, origin: origin, timestamp: TestStore.time(second))
      default:
        _ = try await test.modify(
          (0..<Int.random(in: 1...4, using: &random)).map { _ in
            operation(in: zone, using: &random)
          }, in: test.privateID, atomic: Bool.random(using: &random), at: second)
      }
    }

    private func operation(
      in zone: ZoneID, using random: inout SeededGenerator
    ) -> RecordOperation {
      func name() -> String { "n\(Int.random(in: 0..<12, using: &random))" }
      let recordID = RecordID(recordName: name(), zoneID: zone)
      guard random.chance(3, in: 5) else {
        return RecordOperation(kind: .forceDelete, recordID: recordID)
      }
      var fields: RecordFields<RecordValue?> = ["x": .int64(.random(in: 0..<1000, using: &random))]
      if random.chance(1, in: 2) {
        fields["up"] = .reference(Reference(recordName: name(), action: .deleteSelf))
      }
      return RecordOperation(
        kind: random.pick([.forceUpdate, .forceReplace, .create]), recordID: recordID,
        recordType: random.pick(["Note", "Item"]), fields: fields)
    }

    /// The state of the server, read without feeds.
    private func state(_ test: TestStore) async throws -> [ZoneID: [String: Record]] {
      var state: [ZoneID: [String: Record]] = [:]
      for zone in try await test.store.zones.zones(in: test.privateID)
      where !zone.zoneID.isDefaultZone {
        let ids = (0..<12).map { RecordID(recordName: "n\($0)", zoneID: zone.zoneID) }
        let records = try await test.store.records.records(ids, in: test.privateID)
        state[zone.zoneID] = records.reduce(into: [:]) { found, record in
          if let record { found[record.recordID.recordName] = record }
        }
      }
      return state
    }
  }
}

/// A client that keeps the state that the feeds give it.
private struct FeedClient {
  private struct KnownZone {
    var records: [String: Record] = [:]
    var token: String?
    var isDirty = true
    /// Whether it reads the newest change first, until it is through once.
    var isReversed = false
  }

  private var token: String?
  /// Zones that the feed named since it was begun without a token; nil when it was read through.
  private var namedZones: Set<ZoneID>? = []
  private var zones: [ZoneID: KnownZone] = [:]

  var state: [ZoneID: [String: Record]] { zones.mapValues(\.records) }

  mutating func readAll(_ test: TestStore, using random: inout SeededGenerator) async throws {
    while try await readZonePage(test, using: &random) {}
    while let zone = zones.first(where: { $0.value.isDirty })?.key {
      try await readRecordPage(of: zone, test, using: &random)
      // A token that expired in the zone may come of its being made again.
      while try await readZonePage(test, using: &random) {}
    }
  }

  mutating func readPage(_ test: TestStore, using random: inout SeededGenerator) async throws {
    let dirty = zones.filter(\.value.isDirty).keys.sorted { $0.zoneName < $1.zoneName }
    if dirty.isEmpty || random.chance(1, in: 3) {
      _ = try await readZonePage(test, using: &random)
    } else {
      try await readRecordPage(of: random.pick(dirty), test, using: &random)
    }
  }

  /// Whether more is coming.
  private mutating func readZonePage(
    _ test: TestStore, using random: inout SeededGenerator
  ) async throws -> Bool {
    let page: ZoneChangesPage
    do {
      page = try await test.zoneChanges(
        since: token, limit: Int.random(in: 1...3, using: &random))
    } catch let error as StoreError where error.code == .changeTokenExpired {
      token = nil
      namedZones = []
      return true
    }
    for change in page.changes {
      switch change {
      case .changed(let zone):
        zones[zone, default: KnownZone(isReversed: random.chance(1, in: 3))].isDirty = true
        namedZones?.insert(zone)
      case .deleted(let zone), .purged(let zone):
        zones[zone] = nil
        namedZones?.remove(zone)
      }
    }
    token = page.token
    if !page.hasMore, let named = namedZones {
      zones = zones.filter { named.contains($0.key) }
      namedZones = nil
    }
    return page.hasMore
  }

  private mutating func readRecordPage(
    of zoneID: ZoneID, _ test: TestStore, using random: inout SeededGenerator
  ) async throws {
    guard var zone = zones[zoneID] else { return }
    let page: RecordChangesPage
    do {
      page = try await test.changes(
        in: zoneID, since: zone.token, limit: Int.random(in: 0...5, using: &random),
        isReversed: zone.isReversed)
    } catch let error as StoreError where error.code == .changeTokenExpired {
      zones[zoneID] = KnownZone(isReversed: random.chance(1, in: 3))
      return
    } catch is ItemFailure {
      zones[zoneID] = nil
      return
    }
    let ids = page.changes.map(\.recordID)
    #expect(Set(ids).count == ids.count, "a record came twice")
    for change in page.changes { zone.records[change.recordID.recordName] = change.record }
    zone.token = page.token
    if !page.hasMore {
      // The end of a walk backwards is where the way forward goes on.
      zone.isDirty = zone.isReversed
      zone.isReversed = false
    }
    zones[zoneID] = zone
  }
}
