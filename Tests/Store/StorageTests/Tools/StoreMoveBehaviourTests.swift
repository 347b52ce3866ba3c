import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

struct StoreMoveBehaviourTests {
  /// The answers of one store.
  private struct Answers: Equatable {
    var queries: [[Record]] = []
    var feeds: [[String]] = []
    var tokens: [String?] = []
    var zones: [String] = []
    var subscriptions: [StoredSubscription] = []
    var log: NotificationLogPage?
    var devices: [DeviceToken] = []
    var users: [User] = []
    var sessions: [WebAuthToken?] = []
    var owed = 0
    var outbox: [Int64] = []
    var usage: DatabaseUsage?
  }

  private struct Tokens {
    var records: [String?] = [nil]
    var zones: [String?] = [nil]
    var log: [String?] = [nil]
  }

  private static let hash: [UInt8] = Array(repeating: 7, count: 32)
  private static let recipient = Recipient(
    userRecordName: TestStore.bob, container: TestStore.container, environment: .development)

  /// Random saves, deletions, subscriptions, devices and dispatches, with change tokens of every stage.
  private func fill(_ test: TestStore, _ zone: ZoneID, seed: Int) async throws -> Tokens {
    var random = SeededGenerator(seed: seed)
    var tokens = Tokens()
    try await test.register("phone", user: TestStore.bob, device: "phone")
    let user = try await test.store.accounts.addUser(named: "anna", at: TestStore.time(0))
    try await test.store.accounts.addWebAuthToken(
      WebAuthToken(
        hash: Self.hash, userRecordName: user.userRecordName, created: TestStore.time(0),
        expires: TestStore.time(1_000_000)))
    for number in 0..<4 {
      _ = try await test.subscribe(
        noteSubscription(
          "s\(number)",
          filters: number == 0
            ? [] : [Filter(.field("n"), .greaterThan, .int64(Int64(number)))]
        ), as: number == 3 ? TestStore.alice : TestStore.bob, in: test.privateID)
    }
    for round in 0..<120 {
      let name = "r\(Int.random(in: 0..<60, using: &random))"
      let place = random.chance(1, in: 2) ? zone : .default
      if random.chance(1, in: 5) {
        _ = try await test.delete(name, zone: place, in: test.privateID)
      } else {
        try await test.save(
          name,
          [
            "n": .int64(Int64.random(in: -3...6, using: &random)),
            "s": .string(random.pick(["", "é", "long \(round)", "\u{1F426}"])),
            "d": .double(Double.random(in: -1...1, using: &random)),
          ], zone: place, in: test.privateID, device: random.pick(["phone", "pad"]),
          at: Int64(round))
      }
      if round % 10 == 0 { try await test.dispatch(test.privateID, at: Int64(round)) }
      if round % 30 == 0 {
        tokens.records.append(try await test.changes(in: zone).token)
        tokens.zones.append(try await test.zoneChanges().token)
        tokens.log.append(
          try await test.store.notificationLog.notificationLog(
            of: Self.recipient, since: nil, limit: 5
          ).token)
      }
    }
    return tokens
  }

  private func ask(_ test: TestStore, _ zone: ZoneID, _ tokens: Tokens) async throws -> Answers {
    var answers = Answers()
    for (field, ascending) in [("n", true), ("s", false), ("d", true)] {
      var search = RecordQuery(
        query: Query(
          recordType: "Note", sortKeys: [SortKey(.field(field), ascending: ascending)]),
        zoneID: nil, limit: 13)
      var found: [Record] = []
      repeat {
        let page = try await test.store.records.records(matching: search, in: test.privateID)
        found += page.records
        search.continuation = page.continuation
      } while search.continuation != nil
      answers.queries.append(found)
    }
    for token in tokens.records {
      let page = try await test.changes(in: zone, since: token)
      answers.feeds.append(page.names)
      answers.tokens.append(page.token)
    }
    for token in tokens.zones {
      answers.zones += try await test.zoneChanges(since: token).names + ["."]
    }
    answers.subscriptions = try await test.storedSubscriptions(in: test.privateID)
    for token in tokens.log {
      answers.log = try await test.store.notificationLog.notificationLog(
        of: Self.recipient, since: token, limit: 1_000)
    }
    answers.devices = try await test.store.devices.deviceTokens(of: TestStore.bob)
    answers.users = try await test.store.accounts.users()
    answers.sessions = [try await test.store.accounts.webAuthToken(withHash: Self.hash)]
    answers.owed = try await test.store.deliveries.owedDeliveryCount()
    answers.outbox = try await test.outbox(of: test.privateID).map(\.sequence)
    answers.usage = try await test.store.databases.usage(of: test.privateID)
    return answers
  }

  @Test(
    "answers all as before, there and back, and goes on with its numbers",
    arguments: Seeds.some(1))
  func behaviour(_ seed: Int) async throws {
    try await MovePlaces.use { places in
      let (zone, tokens, before) = try await places.file.withStore { test in
        let zone = try await test.makeZone("z")
        let tokens = try await fill(test, zone, seed: seed)
        return (zone, tokens, try await ask(test, zone, tokens))
      }
      #expect(before.queries[0].count > 20 && before.owed > 0 && !before.outbox.isEmpty)
      #expect(before.log?.notifications.isEmpty == false && before.feeds[1].count > 10)
      let there = try await StoreMove.run(from: places.file, to: places.postgreSQL)
      #expect(try places.postgreSQL.withConnection(Self.unfiled) == 0)
      let onPostgreSQL = try await places.postgreSQL.withStore { try await ask($0, zone, tokens) }
      #expect(onPostgreSQL == before)
      let back = try await StoreMove.run(from: places.postgreSQL, to: places.otherFile)
      // The server there has given its folder of assets an identity.
      func rows(_ tables: [StoreMove.Result.Table]) -> [StoreMove.Result.Table] {
        tables.filter { $0.name != "secrets" }
      }
      #expect(rows(back.tables) == rows(there.tables))
      // The comparison comes before any change there, because all three stores must still be equal.
      #expect(try await places.otherFile.withStore { try await ask($0, zone, tokens) } == before)
      for place in [places.postgreSQL, places.otherFile] {
        try await place.withStore { test in
          let last = try #require(before.tokens.last ?? nil)
          let record = try await test.save("new", zone: zone, in: test.privateID)
          try await test.save("other", type: "Further", in: test.publicID)
          let page = try await test.changes(in: zone, since: last)
          #expect(page.names == ["new"], "the old token tells what is new")
          #expect(!before.queries[0].contains { $0.recordChangeTag == record.recordChangeTag })
          let logged = try await test.dispatch(test.privateID).logged
          #expect(logged.contains { $0.notification.subscriber == TestStore.bob })
          let log = try await test.store.notificationLog.notificationLog(
            of: Self.recipient, since: before.log?.token, limit: 1_000)
          #expect(!log.notifications.isEmpty)
        }
      }
    }
  }

  private static func unfiled(_ connection: any SQLConnection) throws -> Int64? {
    try connection.first("SELECT COUNT(*) FROM unfiled_notifications", []) { $0.integer(0) }
  }
}
