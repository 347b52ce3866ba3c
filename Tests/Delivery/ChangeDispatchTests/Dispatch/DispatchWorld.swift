import CloudKitModel
import Foundation
import Storage
import StoreModel
import Synchronization
import Testing

@testable import ChangeDispatch

/// A store with two users' private databases and a public one, and what tests do to them.
struct DispatchWorld: Sendable {
  static let container = "iCloud.com.example.app"
  static let alice = "_alice"
  static let bob = "_bob"
  /// The token of a reader of Alice's log who has no device.
  static let reader = "alice-reader"

  let store: Store
  let publicID: DatabaseID
  let privateID: DatabaseID

  init(_ store: Store) async throws {
    self.store = store
    publicID = try await store.databases.database(at: Self.address(.public))
    privateID = try await store.databases.database(at: Self.address(.private, owner: Self.alice))
    try await register(Self.reader, kind: .courier)
  }

  static func address(_ scope: DatabaseScope, owner: String? = nil) -> DatabaseAddress {
    DatabaseAddress(container: container, environment: .development, scope: scope, owner: owner)
  }

  static let start = Timestamp(milliseconds: 1_700_000_000_000)

  func register(
    _ token: String, kind: DeviceToken.Kind = .apns, user: String = alice,
    at timestamp: Timestamp = start, container: String = container,
    apnsEnvironment: APNsEnvironment = .development
  ) async throws {
    try await store.devices.saveDeviceToken(
      DeviceToken(
        kind: kind, token: token, container: container, environment: .development,
        apnsEnvironment: apnsEnvironment, userRecordName: user, deviceID: nil,
        registered: timestamp))
  }

  func makeZone(_ name: String) async throws {
    try await modifyZones([.create(ZoneID(zoneName: name))])
  }

  func modifyZones(_ operations: [ZoneOperation]) async throws {
    let outcomes = try await store.zones.modifyZones(
      operations, in: privateID, origin: ChangeOrigin(userRecordName: Self.alice),
      timestamp: Self.start)
    for case .failed(_, let failure) in outcomes { throw failure }
  }

  func modify(_ operation: RecordOperation, in database: DatabaseID) async throws {
    let outcomes = try await store.records.modifyRecords(
      RecordModification(
        database: database, operations: [operation], isAtomic: false,
        origin: ChangeOrigin(userRecordName: Self.bob), isByAdministrator: true,
        timestamp: Self.start))
    for case .failed(let failure) in outcomes { throw failure }
  }

  /// Makes or changes a record.
  func save(
    _ name: String, type: String = "Note", _ fields: RecordFields<RecordValue?> = [:],
    zone: String? = nil, in database: DatabaseID? = nil
  ) async throws {
    try await modify(
      RecordOperation(
        kind: .forceUpdate,
        recordID: RecordID(
          recordName: name, zoneID: zone.map { ZoneID(zoneName: $0) } ?? .default),
        recordType: type, fields: fields), in: database ?? publicID)
  }

  func delete(_ name: String, zone: String? = nil, in database: DatabaseID? = nil) async throws {
    try await modify(
      RecordOperation(
        kind: .forceDelete,
        recordID: RecordID(
          recordName: name, zoneID: zone.map { ZoneID(zoneName: $0) } ?? .default)),
      in: database ?? publicID)
  }

  func subscribe(
    _ subscription: Subscription, in database: DatabaseID? = nil, as user: String = alice
  ) async throws {
    let outcomes = try await store.subscriptions.modifySubscriptions(
      [.save(subscription)], of: user, in: database ?? publicID, timestamp: Self.start)
    for case .failed(_, let failure) in outcomes { throw failure }
    // A subscription that fires once has somebody to send to; Alice has a reader.
    if subscription.firesOnce, user != Self.alice {
      try await register("\(user)-reader", kind: .courier, user: user)
    }
  }

  static func query(
    _ id: String, type: String = "Note", filters: [Filter] = [], zone: String? = nil,
    options: Subscription.Options = .events
  ) -> Subscription {
    Subscription(
      subscriptionID: id,
      kind: .query(
        Query(recordType: type, filters: filters), zoneID: zone.map { ZoneID(zoneName: $0) },
        options: options))
  }

  /// The unread part of Alice's log, as `subscription record`, or `subscription` where no record
  /// changed.
  func readLog() async throws -> [String] {
    var lines: [String] = []
    while let next = try await store.courier.courierEntries(
      forToken: Self.reader, after: CourierPosition(), limit: 1
    ).first {
      lines.append(Self.line(next.entry))
      try await store.courier.acknowledgeCourierEntries([next.entry], forToken: Self.reader)
    }
    return lines
  }

  /// All of Alice's log, in the format of ``readLog()``.
  func log() async throws -> [String] {
    var lines: [String] = []
    var token: String?
    while true {
      let page = try await store.notificationLog.notificationLog(
        of: Recipient(
          userRecordName: Self.alice, container: Self.container, environment: .development),
        since: token, limit: 1_000)
      for case .unread(let entry) in page.notifications { lines.append(Self.line(entry)) }
      guard page.moreComing else { return lines }
      token = page.token
    }
  }

  static func line(_ entry: LogEntry) -> String {
    let subscriptionID = entry.notification.subscription.subscriptionID
    let record = entry.notification.change.record
    return record.map { "\(subscriptionID) \($0.recordID.recordName)" } ?? subscriptionID
  }

  var isDispatched: Bool {
    get async throws { try await store.outbox.undispatchedDatabases().isEmpty }
  }
}

/// A dispatcher whose results are kept.
final class RunningDispatcher: Sendable {
  let dispatcher: Dispatcher
  private let logged = Box<[LogEntry]>([])
  private let reports = Box<[WorkReport]>([])
  /// Nil unless several servers share the store.
  let membership: ServerMembership?

  /// - Parameter servers: what servers know of each other that share the store.
  init(
    _ store: DispatchStore, servers: ClusterService? = nil,
    configure: (inout Dispatcher.Configuration) -> Void = { _ in },
    configurePresence: (inout ServerMembership.Configuration) -> Void = { _ in }
  ) {
    membership = servers.map { servers in
      var configuration = ServerMembership.Configuration()
      configuration.leaseTime = 0.6
      configuration.pollInterval = 0.01
      configuration.scanInterval = 0.05
      configuration.idleTime = 0.1
      configurePresence(&configuration)
      return ServerMembership(store: servers, configuration: configuration, report: { _ in })
    }
    var configuration = Dispatcher.Configuration()
    configure(&configuration)
    dispatcher = Dispatcher(
      store: store, configuration: configuration, membership: membership,
      clock: { DispatchWorld.start },
      report: { [reports] line in reports.value.withLock { $0.append(line) } },
      onDispatched: { [logged] result in logged.value.withLock { $0 += result.logged } })
    dispatcher.start()
  }

  /// The dispatched notifications, in the order of the results.
  var lines: [String] { logged.value.withLock { $0.map(DispatchWorld.line) } }
  var reported: [WorkReport] { reports.value.withLock { $0 } }
}

extension WorkReport {
  /// The value of a field.
  subscript(name: String) -> Value? { fields.first { $0.name == name }?.value }
}

/// A value that tasks share.
final class Box<Value: Sendable>: Sendable {
  let value: Mutex<Value>
  init(_ value: Value) { self.value = Mutex(value) }
}

/// Runs `body` on an empty store in memory or in a file.
func withWorld(
  inFile: Bool = false, configure: (inout StoreConfiguration) -> Void = { _ in },
  _ body: (DispatchWorld) async throws -> Void
) async throws {
  var configuration = StoreConfiguration()
  configuration.tuning.cacheKilobytes = 2048
  configure(&configuration)
  guard inFile else {
    let store = try await Store.inMemory(configuration: configuration)
    try await body(try await DispatchWorld(store))
    return await store.close()
  }
  let directory = NSTemporaryDirectory() + "petrel-dispatch-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let store = try await Store.open(
    at: directory + "/store.sqlite", configuration: configuration)
  try await body(try await DispatchWorld(store))
  await store.close()
}
