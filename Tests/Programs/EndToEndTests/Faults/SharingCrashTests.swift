import CloudKit
import CloudKitModel
import Foundation
import Storage
import StoreModel
import Testing
import Waiting

/// A server that is killed while it forwards changes to the participants of a share.
struct SharingCrashTests {
  private static let participants = (0..<20).map { "_user\($0)" }
  private static let owner = "_owner"
  private static let zoneID = ZoneID(zoneName: "shared")

  @Test(
    "A server that is killed while it forwards goes on: each participant has each change once",
    .enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
  func killed() async throws {
    let directory = NSTemporaryDirectory() + "petrel-forwarding-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    // Beside the server, as a tool may be.
    let store = try await Store.open(
      at: directory + "/petrel.sqlite", configuration: StoreConfiguration(role: .tool))
    let database = try await prepare(store)
    var round = 0
    // Before and after commits, between those of participants, and after all. Transactions that wait
    // together are committed together, so there are few commits.
    for point in [
      "afterMatch:1", "afterMatch:7", "beforeCommit:2", "afterCommit:1", "afterCommit:3",
      "afterLogging:9", "afterForward:1", "afterMatch:21", "afterLogging:21",
    ] {
      round += 1
      for number in 0..<5 { try await save("r\(round)-\(number)", in: database, store) }
      let server = try Program(
        "petrel", ["serve", "--data", directory, "--port", "0"],
        environment: ["KILL_POINT": point], in: directory)
      #expect(try await server.end() == SIGKILL, "\(point): \(server.output)")
    }
    let server = try Program(
      "petrel", ["serve", "--data", directory, "--port", "0"], in: directory)
    try await eventually("the outbox must become empty") {
      try await store.outbox.undispatchedDatabases().isEmpty
    }
    try await server.kill()
    let changes = try await notificationIDs(of: Self.owner, in: store)
    #expect(changes.count >= round * 5)
    for participant in Self.participants {
      // The owner's log has what was saved before the participant had accepted, too.
      let heard = try await notificationIDs(of: participant, in: store)
      #expect(heard == Array(changes.suffix(heard.count)), "\(participant)")
      #expect(heard.count >= round * 5)
    }
    await store.close()
  }

  /// Shares a zone with the participants, who subscribe to their shared databases.
  private func prepare(_ store: Store) async throws -> DatabaseID {
    func database(_ scope: DatabaseScope, of user: String) async throws -> DatabaseID {
      try await store.databases.database(
        at: DatabaseAddress(
          container: Cloud.container, environment: .development, scope: scope, owner: user))
    }
    func subscribe(_ user: String, in database: DatabaseID) async throws {
      _ = try await store.subscriptions.modifySubscriptions(
        [.save(Subscription(subscriptionID: "s", kind: .database(recordType: nil)))],
        of: user, in: database, timestamp: .now)
    }
    let own = try await database(.private, of: Self.owner)
    _ = try await store.zones.modifyZones(
      [.create(Self.zoneID)], in: own, origin: ChangeOrigin(userRecordName: Self.owner),
      timestamp: .now)
    try await subscribe(Self.owner, in: own)
    let outcomes = try await modify(
      RecordOperation(
        kind: .create,
        recordID: RecordID(recordName: ShareContent.zoneShareName, zoneID: Self.zoneID),
        recordType: ShareContent.recordType,
        shareContent: ShareContent(publicPermission: .readOnly)), in: own, store)
    guard case .saved(let share)? = outcomes.first,
      let link = share.shareContent?.shortGUID
    else { throw StoreError(.notFound, "\(outcomes)") }
    for user in Self.participants {
      _ = try await store.shares.accept(
        ShareRequest(shortGUID: link), by: ChangeOrigin(userRecordName: user),
        of: Cloud.container, in: .development, timestamp: .now)
      try await subscribe(user, in: try await database(.shared, of: user))
    }
    return own
  }

  private func save(_ name: String, in database: DatabaseID, _ store: Store) async throws {
    _ = try await modify(
      RecordOperation(
        kind: .create, recordID: RecordID(recordName: name, zoneID: Self.zoneID),
        recordType: "Item"), in: database, store)
  }

  private func modify(
    _ operation: RecordOperation, in database: DatabaseID, _ store: Store
  ) async throws -> [RecordOutcome] {
    try await store.records.modifyRecords(
      RecordModification(
        database: database, operations: [operation], isAtomic: false,
        origin: ChangeOrigin(userRecordName: Self.owner), timestamp: .now))
  }

  /// The IDs in a user's notification log, in its order.
  private func notificationIDs(of user: String, in store: Store) async throws -> [UUID] {
    let page = try await store.notificationLog.notificationLog(
      of: Recipient(
        userRecordName: user, container: Cloud.container, environment: .development),
      since: nil, limit: 1_000)
    return page.notifications.compactMap { notification in
      guard case .unread(let entry) = notification else { return nil }
      return entry.notification.change.notificationID
    }
  }
}
