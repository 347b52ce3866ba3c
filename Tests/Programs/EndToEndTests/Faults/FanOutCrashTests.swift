import CloudKit
import CloudKitModel
import Foundation
import Storage
import StoreModel
import Testing
import Waiting

struct FanOutCrashTests {
  private static let users = 2_000
  private static let subscriptionsEach = 10

  @Test(
    "A server that is killed in the middle of it goes on where it was: one log entry for each",
    .enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
  func killed() async throws {
    let directory = NSTemporaryDirectory() + "petrel-fan-out-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    // Beside the server, as a tool may be.
    let store = try await Store.open(
      at: directory + "/petrel.sqlite", configuration: StoreConfiguration(role: .tool))
    let database = try await prepare(store)
    var settled = 0
    for part in [1, 3, 6] {
      let server = try Program(
        "petrel", ["serve", "--data", directory, "--port", "0"], in: directory)
      try await eventually("\(part)/10 must be settled; the server printed: \(server.output)") {
        try await Self.settledUsers(of: database, in: store) >= Self.users * part / 10
      }
      try await server.kill()
      let now = try await Self.settledUsers(of: database, in: store)
      #expect(now >= settled && now < Self.users, "it must have been killed in the middle")
      settled = now
    }
    let server = try Program(
      "petrel", ["serve", "--data", directory, "--port", "0"], in: directory)
    try await eventually("the outbox must become empty") {
      try await store.outbox.undispatchedDatabases().isEmpty
    }
    try await server.kill()
    let expected = (0..<Self.subscriptionsEach).map { "s\($0)" }
    for user in 0..<Self.users {
      let page = try await store.notificationLog.notificationLog(
        of: Recipient(
          userRecordName: Self.name(user), container: Cloud.container, environment: .development),
        since: nil, limit: 100)
      let logged = page.notifications.compactMap { notification -> String? in
        guard case .unread(let entry) = notification else { return nil }
        return entry.notification.subscription.subscriptionID
      }
      guard logged.sorted() == expected else {
        Issue.record("\(Self.name(user)) has \(logged)")
        break
      }
    }
    await store.close()
  }

  private static func name(_ user: Int) -> String { "_user" + String(10_000 + user) }

  /// Saves the subscriptions and then one record, which fires all of them.
  private func prepare(_ store: Store) async throws -> DatabaseID {
    let database = try await store.databases.database(
      at: DatabaseAddress(
        container: Cloud.container, environment: .development, scope: .public, owner: nil))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for user in 0..<Self.users {
        group.addTask {
          _ = try await store.subscriptions.modifySubscriptions(
            (0..<Self.subscriptionsEach).map { number in
              .save(
                Subscription(
                  subscriptionID: "s\(number)",
                  kind: .query(
                    Query(recordType: "Item", filters: []), zoneID: nil,
                    options: .firesOnRecordCreation)))
            }, of: Self.name(user), in: database, timestamp: .now)
        }
      }
      try await group.waitForAll()
    }
    let outcomes = try await store.records.modifyRecords(
      RecordModification(
        database: database,
        operations: [
          RecordOperation(
            kind: .create, recordID: RecordID(recordName: "A", zoneID: .default),
            recordType: "Item")
        ], isAtomic: false, origin: ChangeOrigin(userRecordName: "_author"),
        isByAdministrator: true,
        timestamp: .now))
    #expect(outcomes.count == 1)
    return database
  }

  /// Of how many users all is settled; those of whom a part is do not count.
  private static func settledUsers(
    of database: DatabaseID, in store: Store
  ) async throws -> Int {
    let waiting = try await store.outbox.undispatchedChanges(
      in: .whole(database), after: .min, limit: 1)
    guard let entry = waiting.first else { return users }
    guard let through = entry.settledThrough else { return 0 }
    return (Int(through.subscriber.dropFirst("_user".count)) ?? 0) - 10_000
  }
}
