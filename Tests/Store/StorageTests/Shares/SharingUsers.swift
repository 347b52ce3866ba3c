import CloudKitModel
import StoreModel
import Testing

@testable import Storage

/// A user's private and shared databases, for tests of what users share with each other.
struct SharingUser {
  let name: String
  let privateID: DatabaseID
  let sharedID: DatabaseID
  let test: TestStore

  init(_ name: String, _ test: TestStore) async throws {
    self.name = name
    self.test = test
    privateID = try await test.store.databases.database(
      at: TestStore.address(.private, owner: name))
    sharedID = try await test.store.databases.database(at: TestStore.address(.shared, owner: name))
  }

  // MARK: Owning

  /// Saves records of the private database, each with its parent.
  func save(_ records: [(name: String, parent: String?)], in zone: ZoneID) async throws {
    let outcomes = try await test.modify(
      records.map { Self.saving($0.name, below: $0.parent, in: zone) }, in: privateID, by: name)
    for outcome in outcomes { _ = try #require(outcome.record, "\(outcome)") }
  }

  /// Shares a hierarchy, or without a root the zone, and returns the link of the share.
  func share(
    _ root: String?, in zone: ZoneID, publicPermission: SharePermission? = nil,
    with participants: [ShareParticipant]? = nil
  ) async throws -> String {
    try #require(
      try await linkOfShare(
        root, in: zone, publicPermission: publicPermission, with: participants))
  }

  /// Shares a hierarchy, or without a root the zone.
  ///
  /// - Returns: the link of the share; nil if it is refused.
  func linkOfShare(
    _ root: String?, in zone: ZoneID, publicPermission: SharePermission? = nil,
    with participants: [ShareParticipant]? = nil
  ) async throws -> String? {
    var content = ShareContent(publicPermission: publicPermission, participants: participants)
    content.root = root.map { .init(recordName: $0) }
    let share = RecordOperation(
      kind: .forceUpdate,
      recordID: RecordID(recordName: Self.shareName(of: root), zoneID: zone),
      recordType: ShareContent.recordType, shareContent: content)
    let roots = root.map {
      [
        RecordOperation(
          kind: .forceUpdate, recordID: RecordID(recordName: $0, zoneID: zone), recordType: "Item")
      ]
    }
    let outcomes = try await test.modify((roots ?? []) + [share], in: privateID, by: name)
    return outcomes.last?.record?.shareContent?.shortGUID
  }

  static func shareName(of root: String?) -> String {
    root.map { "share-\($0)" } ?? ShareContent.zoneShareName
  }

  static func participant(
    _ user: String, _ permission: SharePermission = .readWrite, _ role: ShareRole = .privateUser
  ) -> ShareParticipant {
    ShareParticipant(
      role: role, permission: permission, acceptance: .pending,
      identity: UserIdentity(userRecordName: user))
  }

  // MARK: Taking part

  /// Accepts a share.
  func accept(_ link: String) async throws {
    _ = try await test.store.shares.accept(
      ShareRequest(shortGUID: link), by: ChangeOrigin(userRecordName: name),
      of: TestStore.container, in: .development, timestamp: TestStore.time(1))
  }

  /// Carries out operations in the shared database.
  func modify(
    _ operations: [RecordOperation], atomic: Bool = false, requestID: String? = nil
  ) async throws -> [RecordOutcome] {
    try await test.modify(
      operations, in: sharedID, atomic: atomic, by: name, isByAdministrator: false,
      requestID: requestID)
  }

  /// Fetches a record of the shared database.
  func record(_ recordName: String, in zone: ZoneID) async throws -> Record? {
    try await test.record(recordName, zone: zone, in: sharedID)
  }

  /// The names that a query for all records of a zone of the shared database finds.
  func found(in zone: ZoneID, type: String = "Item") async throws -> [String] {
    try await test.store.records.records(
      matching: RecordQuery(
        query: Query(recordType: type), zoneID: zone, limit: 200,
        caller: .user(userRecordName: name)), in: sharedID
    ).records.map(\.recordID.recordName).sorted()
  }

  func zones() async throws -> [ZoneID] {
    try await test.store.zones.zones(in: sharedID).map(\.zoneID)
  }

  // MARK: Operations

  static func saving(
    _ name: String, below parent: String?, in zone: ZoneID,
    _ fields: RecordFields<RecordValue?> = [:]
  ) -> RecordOperation {
    RecordOperation(
      kind: .forceReplace, recordID: RecordID(recordName: name, zoneID: zone), recordType: "Item",
      fields: fields, parent: .some(parent.map { Reference(recordName: $0) }))
  }

  static func changing(
    _ name: String, in zone: ZoneID, _ fields: RecordFields<RecordValue?> = [:]
  ) -> RecordOperation {
    RecordOperation(
      kind: .forceUpdate, recordID: RecordID(recordName: name, zoneID: zone), recordType: "Item",
      fields: fields)
  }

  static func deleting(_ name: String, in zone: ZoneID) -> RecordOperation {
    RecordOperation(kind: .forceDelete, recordID: RecordID(recordName: name, zoneID: zone))
  }
}

extension ZoneID {
  /// The zone of Alice's private database as other users name it.
  var ofAlice: ZoneID { ZoneID(zoneName: zoneName, ownerName: TestStore.alice) }
}
