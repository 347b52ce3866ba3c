import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

/// A user who has something of every kind in a store, each with a marker to look for.
struct UserWithEverything {
  let user: User
  let privateID: DatabaseID
  let zone: ZoneID
  /// Another environment's.
  let otherID: DatabaseID

  static let account = "anna-MARK-account"

  /// The texts that must not be found after the deletion of the user.
  var markers: [String] {
    [
      user.userRecordName, "MARK-", "mark.anna@example.com", "4915112340001",
      Self.hash.map { String(UnicodeScalar($0)) }.joined(),
    ]
  }

  /// The hash of a token, in letters so that it can be looked for as the others.
  static let hash = Array("mArKhAsH0123456789abcdefghijklmn".utf8)

  private static let device = "MARK-device"

  /// Makes the user with private databases in two environments.
  ///
  /// - Parameter isMarkedInPublic: whether public records have markers, too.
  static func make(in test: TestStore, isMarkedInPublic: Bool) async throws -> UserWithEverything {
    let store = test.store
    var names = PersonNameComponents()
    names.givenName = "MARK-given"
    let user = try await store.accounts.addUser(
      named: account,
      profile: try UserProfile(
        emailAddress: "mark.anna@example.com", phoneNumber: "+4915112340001", nameComponents: names),
      at: TestStore.time(1))
    func database(_ environment: ContainerEnvironment) async throws -> DatabaseID {
      try await store.databases.database(
        at: DatabaseAddress(
          container: TestStore.container, environment: environment, scope: .private,
          owner: user.userRecordName))
    }
    let made = UserWithEverything(
      user: user, privateID: try await database(.development),
      zone: ZoneID(zoneName: "MARK-zone"), otherID: try await database(.production))
    try await made.fillAccount(test)
    try await made.fillPrivateDatabase(test)
    try await made.fillPublicDatabase(test, marker: isMarkedInPublic ? "MARK" : "kept")
    try await made.takePartInShares(test)
    return made
  }

  private var name: String { user.userRecordName }

  /// Makes shares of another user, in which the user is a participant, a requester, and blocked.
  private func takePartInShares(_ test: TestStore) async throws {
    let owners = try await test.store.databases.database(
      at: TestStore.address(.private, owner: TestStore.bob))
    for (number, part) in ["participant", "requester", "blocked"].enumerated() {
      let zone = ZoneID(zoneName: part)
      _ = try await test.store.zones.modifyZones(
        [.create(zone)], in: owners, origin: ChangeOrigin(userRecordName: TestStore.bob),
        timestamp: TestStore.time(7))
      var content = ShareContent(deniesAccessRequests: false)
      if number == 0 {
        content.participants = [
          ShareParticipant(
            role: .privateUser, permission: .readWrite, acceptance: .pending,
            identity: UserIdentity(userRecordName: name))
        ]
      }
      func save(_ content: ShareContent) async throws -> Record {
        let outcomes = try await test.modify(
          [
            RecordOperation(
              kind: .forceUpdate,
              recordID: RecordID(recordName: ShareContent.zoneShareName, zoneID: zone),
              recordType: ShareContent.recordType, shareContent: content)
          ], in: owners, by: TestStore.bob, at: 7)
        return try #require(outcomes.first?.record, "\(outcomes)")
      }
      let share = try await save(content)
      guard number > 0 else {
        try await changeShared(zone, link: share.shareContent?.shortGUID ?? "", test)
        continue
      }
      try await test.store.shares.requestAccess(
        to: share.shareContent?.shortGUID ?? "", for: name, of: TestStore.container,
        in: .development, timestamp: TestStore.time(8))
      guard number > 1 else { continue }
      let blocking = try await save(
        ShareContent(blocked: [UserIdentity(userRecordName: name)]))
      #expect(blocking.shareContent?.blocked?.map(\.userRecordName) == [name])
    }
  }

  /// Accepts the share of another user's zone, saves a record in it, and reads the feeds.
  private func changeShared(_ zone: ZoneID, link: String, _ test: TestStore) async throws {
    let store = test.store
    let sharedID = try await store.databases.database(
      at: TestStore.address(.shared, owner: name))
    _ = try await store.shares.accept(
      ShareRequest(shortGUID: link), by: ChangeOrigin(userRecordName: name),
      of: TestStore.container, in: .development, timestamp: TestStore.time(9))
    let theirs = ZoneID(zoneName: zone.zoneName, ownerName: TestStore.bob)
    var modification = RecordModification(
      database: sharedID,
      operations: [
        RecordOperation(
          kind: .create, recordID: RecordID(recordName: "joint", zoneID: theirs),
          recordType: "Joint", fields: ["text": .string("stays")])
      ], isAtomic: true,
      origin: ChangeOrigin(userRecordName: name, deviceID: Self.device),
      timestamp: TestStore.time(9), requestID: "MARK-request")
    modification.clientChangeToken = ClientChangeToken(
      data: Array("MARK-token".utf8), deviceID: Self.device)
    let outcomes = try await store.records.modifyRecords(modification)
    #expect(outcomes.map(\.summary) == ["saved"])
    let upload = AssetUpload(
      receipt: "MARK-shared-receipt", tokenHash: Self.hash.reversed(), userRecordName: name,
      recordName: nil, recordType: "Joint", fieldName: "file", expires: TestStore.time(1_000))
    let files = try await store.assets.databaseOfFiles(inZone: theirs, of: sharedID)
    try await store.assets.addAssetUploads([upload], inZone: theirs, of: files)
    let zones = try await test.zoneChanges(in: sharedID)
    #expect(zones.changes == [.changed(theirs)])
  }

  private func fillAccount(_ test: TestStore) async throws {
    let store = test.store
    try await store.accounts.setPasswordHash(
      "MARK-password", ofUserNamed: Self.account, at: TestStore.time(2))
    for session in [
      nil,
      WebAuthToken.Session?.some(
        .init(
          id: Array("MARK-session".utf8), container: TestStore.container, environment: .development,
          lifetime: 100)),
    ] {
      try await store.accounts.addWebAuthToken(
        WebAuthToken(
          hash: session == nil ? Self.hash : Array("MARK-second-hash".utf8), userRecordName: name,
          created: TestStore.time(2), expires: TestStore.time(1_000_000), session: session))
    }
    try await store.accounts.setApplicationPermissions(
      [.userDiscoverability: .granted],
      by: ContainerMaker(userRecordName: name, timestamp: Timestamp(milliseconds: 0)),
      container: TestStore.container,
      environment: .development)
    for (number, kind) in [DeviceToken.Kind.apns, .webPush, .webhook, .courier].enumerated() {
      try await store.devices.saveDeviceToken(
        DeviceToken(
          kind: kind, token: "MARK-token-\(number)", container: TestStore.container,
          environment: .development, apnsEnvironment: .development, userRecordName: name,
          deviceID: Self.device + "\(number)", registered: TestStore.time(3),
          endpoint: kind == .webPush || kind == .webhook
            ? WebEndpoint(url: "https://example.com/MARK-url", secrets: Array("MARK-secret".utf8))
            : nil))
    }
  }

  private func subscription(_ name: String) -> Subscription {
    noteSubscription(
      "MARK-subscription-\(name)",
      filters: [
        Filter(.field("title"), .notEquals, .string("MARK-predicate"))
      ], badge: true, desiredKeys: ["title"])
  }

  private func fillPrivateDatabase(_ test: TestStore) async throws {
    let store = test.store
    let origin = ChangeOrigin(userRecordName: name, deviceID: Self.device)
    let zones = try await store.zones.modifyZones(
      [.create(zone), .create(ZoneID(zoneName: "MARK-gone-zone"))], in: privateID, origin: origin,
      timestamp: TestStore.time(4))
    #expect(zones.count == 2)
    for database in [privateID, test.publicID] {
      let outcome = try await test.subscribe(subscription("kept"), as: name, in: database)
      #expect(outcome.failure == nil)
      _ = try await test.subscribe(subscription("gone"), as: name, in: database)
      _ = try await store.subscriptions.modifySubscriptions(
        [.delete(subscriptionID: "MARK-subscription-gone")], of: name, in: database,
        refusesEqualContent: false, timestamp: TestStore.time(5))
    }
    let asset = try await test.upload(
      "MARK-asset-bytes", receipt: "MARK-receipt", by: name, zone: zone, in: privateID)
    try await store.assets.addAssetUploads(
      [TestStore.announced("MARK-announced", field: "file", by: name)], inZone: .default,
      of: privateID)
    try await test.save(
      "MARK-target", ["title": .string("MARK-predicate hit")], zone: zone, in: privateID, by: name,
      device: Self.device, at: 6)
    for number in 0..<12 {
      var fields: RecordFields<RecordValue?> = [
        "title": .string("MARK-predicate \(number)"), "text": .string("MARK-value \(number)"),
        "bytes": .bytes(Data("MARK-bytes".utf8)), "number": .int64(Int64(number)),
        "list": .list(of: .string, [.string("MARK-list"), .string("b")]),
        "target": .reference(Reference(recordName: "MARK-target", action: .deleteSelf)),
      ]
      if number == 0 { fields["file"] = .asset(asset) }
      try await test.save(
        "MARK-private-\(number)", fields, zone: zone, in: privateID, by: name,
        device: Self.device, at: 7)
    }
    // Of several sizes: what was overwritten must not be found either.
    for length in [10, 6_000, 40] {
      try await test.save(
        "MARK-rewritten", ["text": .string("MARK-" + String(repeating: "x", count: length))],
        in: privateID, by: name, at: 8)
    }
    _ = try await test.delete("MARK-private-5", zone: zone, in: privateID)
    _ = try await store.zones.modifyZones(
      [.delete(ZoneID(zoneName: "MARK-gone-zone"))], in: privateID, origin: origin,
      timestamp: TestStore.time(9))
    var modification = RecordModification(
      database: privateID,
      operations: [
        RecordOperation(
          kind: .create, recordID: RecordID(recordName: "MARK-named", zoneID: zone),
          recordType: "Note", fields: [:])
      ], isAtomic: true, origin: origin, isByAdministrator: false, timestamp: TestStore.time(9),
      requestID: "MARK-request")
    modification.clientChangeToken = ClientChangeToken(
      data: Array("MARK-client-token".utf8), deviceID: Self.device)
    _ = try await store.records.modifyRecords(modification)
    try await test.dispatch(privateID, at: 10)
    try await test.save("MARK-undispatched", in: privateID, by: name, at: 11)
  }

  private func fillPublicDatabase(_ test: TestStore, marker: String) async throws {
    _ = try await test.subscribe(
      noteSubscription("watch", desiredKeys: ["title"]), as: TestStore.bob)
    try await test.register("bobs-token", user: TestStore.bob)
    let asset = try await test.upload(
      "\(marker)-public-bytes", receipt: "\(marker)-public", by: name)
    _ = try await test.upload("MARK-unused-bytes", receipt: "MARK-unused", by: name)
    for number in 0..<4 {
      var fields: RecordFields<RecordValue?> = ["title": .string("\(marker)-title \(number)")]
      if number == 0 { fields["file"] = .asset(asset) }
      // Their names stay in the memory of deletions for those who read the feed.
      try await test.save("public-\(number)", fields, by: name, device: Self.device, at: 12)
    }
    try await test.save("bobs", ["title": .string("bob's")], by: TestStore.bob, at: 12)
    try await test.save(
      "bobs", ["title": .string("changed")], by: name, device: Self.device, at: 13)
    try await test.save(
      name, type: "Users", ["motto": .string("MARK-motto")], by: name, device: Self.device, at: 13)
    // Other users' changes fire the user's subscription, too.
    try await test.save("hit", ["title": .string("another's")], by: TestStore.bob, at: 14)
    try await test.dispatch(at: 15)
    _ = try await test.delete("hit")
    // Marks as read, in the log of all databases.
    let page = try await test.store.notificationLog.notificationLog(
      of: Recipient(
        userRecordName: name, container: TestStore.container, environment: .development),
      since: nil, limit: 100)
    let identifiers = page.notifications.compactMap { notification in
      if case .unread(let entry) = notification {
        entry.notification.change.notificationID
      } else {
        nil
      }
    }
    #expect(identifiers.count > 2)
    _ = try await test.store.notificationLog.markNotificationsRead(
      Array(identifiers.prefix(2)),
      of: Recipient(
        userRecordName: name, container: TestStore.container, environment: .development),
      timestamp: TestStore.time(16))
  }
}

extension TestStore {
  /// Returns the texts that occur in any row of any table, each with the table's name.
  func tables(having markers: [String]) async throws -> Set<String> {
    let needles = markers.map { Array($0.utf8) }
    return try await store.transactions.read { transaction in
      var found: Set<String> = []
      for name in try SQLTable.names(transaction.connection) where name != "schema_version" {
        let table = try SQLTable(named: name, in: transaction.connection)
        try transaction.connection.query(table.selection(), []) { row in
          for (column, kind) in table.columns.map(\.kind).enumerated()
          where kind != .integer && !row.isNull(Int32(column)) {
            let value =
              kind == .text ? Array(row.text(Int32(column)).utf8) : row.bytes(Int32(column))
            for (marker, needle) in zip(markers, needles) where value.holds(needle) {
              found.insert("\(name).\(table.columns[column].name): \(marker)")
            }
          }
        }
      }
      return found
    }
  }

  /// Takes steps until there are no more, or until a server would have to dispatch.
  ///
  /// - Returns: the last deletion that was seen.
  @discardableResult
  func continueDeletions(at seconds: Int64 = 100) async throws -> UserDeletion? {
    var last: UserDeletion?
    for _ in 0..<10_000 {
      guard
        let next = try await store.maintenance.continueUserDeletion(at: Self.time(seconds))
      else { return last }
      last = next
      guard next.state == .waiting else { continue }
      // The participants of the user's shares hear that the zones are gone.
      guard next.stage == .privateDatabases else { return next }
      try await dispatchAll()
    }
    Issue.record("a deletion goes on for ever: \(last as Any)")
    return last
  }
}

extension [UInt8] {
  /// Whether these bytes have those in a row.
  func holds(_ other: [UInt8]) -> Bool {
    guard let first = other.first else { return true }
    var rest = self[...]
    while rest.count >= other.count, let begin = rest.firstIndex(of: first) {
      if self[begin...].starts(with: other) { return true }
      rest = rest[(begin + 1)...]
    }
    return false
  }
}
