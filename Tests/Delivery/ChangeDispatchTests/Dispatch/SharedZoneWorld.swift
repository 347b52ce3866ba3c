import CloudKitModel
import Storage
import StoreModel
import Testing

@testable import ChangeDispatch

/// A zone of Alice that she shares, and Bob, who has subscribed to his shared database.
struct SharedZoneWorld: Sendable {
  let world: DispatchWorld
  let zoneID = ZoneID(zoneName: "shared")
  let sharedID: DatabaseID

  /// - Parameter isNew: whether the zone and the subscription are made.
  init(_ world: DispatchWorld, isNew: Bool = true) async throws {
    self.world = world
    sharedID = try await world.store.databases.database(
      at: DispatchWorld.address(.shared, owner: DispatchWorld.bob))
    guard isNew else { return }
    try await world.makeZone(zoneID.zoneName)
    try await world.subscribe(
      Subscription(subscriptionID: "bob", kind: .database(recordType: nil)), in: sharedID,
      as: DispatchWorld.bob)
  }

  /// Invites users to the zone, and removes the others.
  ///
  /// - Returns: the link of the share.
  @discardableResult
  func share(with users: [String]) async throws -> String {
    let participants = users.map {
      ShareParticipant(
        role: .privateUser, permission: .readWrite, acceptance: .pending,
        identity: UserIdentity(userRecordName: $0))
    }
    let outcomes = try await world.store.records.modifyRecords(
      RecordModification(
        database: world.privateID,
        operations: [
          RecordOperation(
            kind: .forceUpdate,
            recordID: RecordID(recordName: ShareContent.zoneShareName, zoneID: zoneID),
            recordType: ShareContent.recordType,
            shareContent: ShareContent(participants: participants))
        ], isAtomic: false, origin: ChangeOrigin(userRecordName: DispatchWorld.alice),
        timestamp: DispatchWorld.start))
    guard case .saved(let share) = outcomes[0] else { throw StoreError(.notFound, "\(outcomes)") }
    return try #require(share.shareContent?.shortGUID)
  }

  func accept(_ link: String, as user: String = DispatchWorld.bob) async throws {
    _ = try await world.store.shares.accept(
      ShareRequest(shortGUID: link), by: ChangeOrigin(userRecordName: user),
      of: DispatchWorld.container, in: .development, timestamp: DispatchWorld.start)
  }

  func save(_ name: String) async throws {
    try await world.save(name, zone: zoneID.zoneName, in: world.privateID)
  }

  /// All of a user's log.
  func log(of user: String = DispatchWorld.bob) async throws -> [LogEntry] {
    var entries: [LogEntry] = []
    var token: String?
    while true {
      let page = try await world.store.notificationLog.notificationLog(
        of: Recipient(
          userRecordName: user, container: DispatchWorld.container, environment: .development),
        since: token, limit: 1_000)
      for case .unread(let entry) in page.notifications { entries.append(entry) }
      guard page.moreComing else { return entries }
      token = page.token
    }
  }
}
