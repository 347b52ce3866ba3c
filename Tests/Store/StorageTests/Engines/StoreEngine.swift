import CloudKitModel
import Foundation
import PostgreSQLTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

/// The engines that the conformance suite runs on. An engine that is added here runs all of it.
enum StoreEngine: String, CaseIterable, CustomTestStringConvertible {
  case sqliteFile
  case sqliteInMemory
  case postgreSQL
  /// In memory, with each database written by itself as where they are on several nodes.
  case separateDatabases

  private static let allEngines: [StoreEngine] = [
    .sqliteFile, .sqliteInMemory, .postgreSQL, .separateDatabases,
  ]

  /// For what depends on how a store is read alone, and not on how it is written.
  static let reading = allCases.filter { $0 != .separateDatabases }

  /// With a Citus to test on, that alone.
  static var allCases: [StoreEngine] {
    PostgreSQLServer.citus == nil ? allEngines : [.postgreSQL]
  }

  var testDescription: String { rawValue }

  /// Runs `body` on an empty store.
  func withStore(
    configure: (inout StoreConfiguration) -> Void = { _ in },
    _ body: (TestStore) async throws -> Void
  ) async throws {
    var configuration = StoreConfiguration()
    configuration.tuning.cacheKilobytes = 4096
    // Tests hold up a writer while others do something, which may take long beside other tests.
    configuration.tuning.idleTimeoutMilliseconds = 60_000
    configuration.tuning.lockedIdleTimeoutMilliseconds = 60_000
    // Some tests compare stores.
    configuration.tokens = TokenCipher(secret: Array(repeating: 0x5E, count: 32))
    configure(&configuration)
    switch self {
    case .sqliteInMemory, .separateDatabases:
      configuration.separatesDatabases = self == .separateDatabases
      let store = try await Store.inMemory(configuration: configuration)
      try await body(try await TestStore(store))
      await store.close()
    case .postgreSQL:
      let schema = try await PostgreSQLServer.shared.makeStore()
      let address = try PostgreSQLAddress(schema.address)
      let location = StoreLocation.postgreSQL(address, assets: nil)
      let store = try await Store.open(at: location, configuration: configuration)
      try await body(try await TestStore(store))
      await store.close()
      try await PostgreSQLServer.shared.drop(schema)
    case .sqliteFile:
      try await withTemporaryDirectory { directory in
        let path = directory + "/store.sqlite"
        let store = try await Store.open(at: path, configuration: configuration)
        try await body(try await TestStore(store))
        await store.close()
      }
    }
  }
}

func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
  let directory = NSTemporaryDirectory() + "petrel-storage-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  do {
    try await body(directory)
    try? FileManager.default.removeItem(atPath: directory)
  } catch {
    try? FileManager.default.removeItem(atPath: directory)
    throw error
  }
}

/// A store with a user's private database and a public one in it, and shorthands for tests.
struct TestStore {
  static let container = "iCloud.com.example.app"
  static let alice = "_alice"
  static let bob = "_bob"

  let store: Store
  let privateID: DatabaseID
  let publicID: DatabaseID

  init(_ store: Store) async throws {
    self.store = store
    privateID = try await store.databases.database(at: Self.address(.private, owner: Self.alice))
    publicID = try await store.databases.database(at: Self.address(.public))
  }

  static func address(_ scope: DatabaseScope, owner: String? = nil) -> DatabaseAddress {
    DatabaseAddress(container: container, environment: .development, scope: scope, owner: owner)
  }

  static func time(_ seconds: Int64) -> Timestamp {
    Timestamp(milliseconds: 1_700_000_000_000 + seconds * 1000)
  }

  func modify(
    _ operations: [RecordOperation], in database: DatabaseID? = nil, atomic: Bool = false,
    by user: String = alice, device: String? = nil, isByAdministrator: Bool = true,
    at seconds: Int64 = 0, requestID: String? = nil
  ) async throws -> [RecordOutcome] {
    try await store.records.modifyRecords(
      RecordModification(
        database: database ?? publicID, operations: operations, isAtomic: atomic,
        origin: ChangeOrigin(userRecordName: user, deviceID: device),
        isByAdministrator: isByAdministrator, timestamp: Self.time(seconds),
        requestID: requestID))
  }

  /// Makes or changes one record, which must succeed.
  @discardableResult
  func save(
    _ name: String, type: String = "Note", _ fields: RecordFields<RecordValue?> = [:],
    zone: ZoneID = .default, in database: DatabaseID? = nil, by user: String = alice,
    device: String? = nil, at seconds: Int64 = 0
  ) async throws -> Record {
    let outcomes = try await modify(
      [
        RecordOperation(
          kind: .forceUpdate, recordID: RecordID(recordName: name, zoneID: zone),
          recordType: type, fields: fields)
      ], in: database, by: user, device: device, at: seconds)
    return try #require(outcomes.first?.record, "\(outcomes)")
  }

  func delete(_ name: String, zone: ZoneID = .default, in database: DatabaseID? = nil) async throws
    -> RecordOutcome
  {
    let recordID = RecordID(recordName: name, zoneID: zone)
    return try await modify(
      [RecordOperation(kind: .forceDelete, recordID: recordID)], in: database)[
        0]
  }

  func record(
    _ name: String, zone: ZoneID = .default, in database: DatabaseID? = nil
  ) async throws -> Record? {
    try await store.records.records(
      [RecordID(recordName: name, zoneID: zone)], in: database ?? publicID)[0]
  }

  @discardableResult
  func makeZone(_ name: String) async throws -> ZoneID {
    let zoneID = ZoneID(zoneName: name)
    let outcomes = try await store.zones.modifyZones(
      [.create(zoneID)], in: privateID, origin: ChangeOrigin(userRecordName: Self.alice),
      timestamp: Self.time(0))
    guard case .saved = outcomes[0] else { throw StoreError(.notFound, "\(outcomes)") }
    return zoneID
  }

  /// Everything in a database's outbox.
  func outbox(of database: DatabaseID? = nil) async throws -> [OutboxEntry] {
    try await store.outbox.undispatchedChanges(
      in: .whole(database ?? publicID), after: 0, limit: 10_000)
  }

  /// - Parameter hasReader: whether the user gets a web courier reader if the subscription fires once: it
  ///   stays while there is nobody to send to.
  func subscribe(
    _ subscription: Subscription, as user: String = alice, in database: DatabaseID? = nil,
    hasReader: Bool = true
  ) async throws -> SubscriptionOutcome {
    if subscription.firesOnce, hasReader {
      try await register("\(user)-reader", kind: .courier, user: user)
    }
    return try await store.subscriptions.modifySubscriptions(
      [.save(subscription)], of: user, in: database ?? publicID, timestamp: Self.time(0))[0]
  }

  /// Makes subscriptions that nothing fires, so that changes are kept for the dispatcher.
  func watch() async throws {
    for database in [publicID, privateID] {
      let outcome = try await subscribe(
        Subscription(
          subscriptionID: "watch",
          kind: .query(Query(recordType: "Watched"), zoneID: nil, options: .events)),
        as: "_watcher", in: database)
      if case .failed(_, let failure) = outcome { throw failure }
    }
  }

  func storedSubscriptions(in database: DatabaseID? = nil) async throws -> [StoredSubscription] {
    try await store.subscriptions.subscriptionChanges(in: database ?? publicID).saved
  }

  /// Dispatches what is in the outbox, with plain matching.
  @discardableResult
  func dispatch(_ database: DatabaseID? = nil, at seconds: Int64 = 0) async throws
    -> DispatchResult
  {
    let subscriptions = try await storedSubscriptions(in: database)
    let matched = try await outbox(of: database).map { entry in
      MatchedChange(
        entry: entry, firings: subscriptions.filter { $0.subscription.matches(entry.change) })
    }
    return try await store.outbox.completeDispatch(of: matched, timestamp: Self.time(seconds))
  }

  /// When the next delivery on any route is due.
  func nextDeliveryTime(after timestamp: Timestamp) async throws -> Timestamp? {
    var next: Timestamp?
    for route in try await store.deliveries.deliveryRoutes().keys {
      let due = try await store.deliveries.nextDeliveryTime(on: route, after: timestamp, for: 0)
      next = [next, due].compactMap(\.self).min()
    }
    return next
  }

  func register(
    _ token: String, kind: DeviceToken.Kind = .apns, user: String = alice, device: String? = nil,
    at seconds: Int64 = 0, expires: Int64? = nil, in container: String = container,
    bundleID: String? = nil
  ) async throws {
    try await store.devices.saveDeviceToken(
      DeviceToken(
        kind: kind, token: token, container: container, environment: .development,
        apnsEnvironment: .development, bundleID: bundleID, userRecordName: user, deviceID: device,
        registered: Self.time(seconds), expires: expires.map { Self.time($0) }))
  }
}

extension RecordOutcome {
  var record: Record? {
    if case .saved(let record) = self { return record }
    return nil
  }

  var failure: ItemFailure? {
    if case .failed(let failure) = self { return failure }
    return nil
  }

  /// `saved`, `deleted` or the failure's code.
  var summary: String {
    switch self {
    case .saved: "saved"
    case .deleted: "deleted"
    case .failed(let failure): "\(failure.code)"
    }
  }
}

extension SubscriptionOutcome {
  var failure: ItemFailure? {
    if case .failed(_, let failure) = self { return failure }
    return nil
  }
}

/// A subscription to records of a type.
func noteSubscription(
  _ id: String, filters: [Filter] = [], options: Subscription.Options = .events,
  badge: Bool = false, desiredKeys: [String]? = nil, zone: ZoneID? = nil
) -> Subscription {
  var info = NotificationInfo()
  info.alertBody = "New note"
  info.shouldBadge = badge
  info.desiredKeys = desiredKeys
  return Subscription(
    subscriptionID: id,
    kind: .query(Query(recordType: "Note", filters: filters), zoneID: zone, options: options),
    notificationInfo: info)
}

/// The error that `body` throws, or a failed expectation.
func storeError(
  _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async -> StoreError.Code? {
  do {
    try await body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch let error as StoreError {
    return error.code
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
  }
  return nil
}

extension SubscriptionFeed {
  func subscriptionVersion(of database: DatabaseID) async throws -> Int64 {
    try await subscriptionChanges(in: database).position.version
  }

  /// Returns the changes of subscriptions since a version, all at once.
  func subscriptionChanges(
    in database: DatabaseID, since version: Int64 = 0
  ) async throws -> SubscriptionChanges {
    try await subscriptionChanges(
      in: .whole(database), since: SubscriptionPosition(version: version, forgottenVersion: 0),
      limit: 10_000)
  }
}
