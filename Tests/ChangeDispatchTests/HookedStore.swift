import CloudKitModel
import StoreModel

/// A store whose calls a test can hold up or let fail.
struct HookedStore: RecordStore {
  typealias Hook<Argument> = @Sendable (Argument) async throws -> Void

  let base: any RecordStore
  var beforeCompletion: Hook<[MatchedChange]> = { _ in }
  var afterCompletion: Hook<[MatchedChange]> = { _ in }
  var beforeDeliveryUpdate: Hook<[DeliveryUpdate]> = { _ in }
  var afterDeliveryUpdate: Hook<[DeliveryUpdate]> = { _ in }
  var afterTaking: Hook<TakenDeliveries> = { _ in }
  /// Answers how many are owed, given what the store behind says.
  var owed: @Sendable (Int) -> Int = { $0 }
  var beforeOutboxReading: Hook<DatabaseID> = { _ in }
  var beforeSubscriptionReading: Hook<DatabaseID> = { _ in }

  init(_ base: any RecordStore) { self.base = base }

  var tokens: TokenCipher { base.tokens }

  func prepare(_ change: inout MatchedChange) { base.prepare(&change) }

  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing room: DeliveryRoom?
  ) async throws -> DispatchResult {
    try await beforeCompletion(changes)
    let result = try await base.completeDispatch(
      of: changes, timestamp: timestamp, leasing: room)
    try await afterCompletion(changes)
    return result
  }

  func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int {
    try await beforeDeliveryUpdate(updates)
    let merged = try await base.updateDeliveries(updates)
    try await afterDeliveryUpdate(updates)
    return merged
  }

  func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries {
    let taken = try await base.takeDeliveries(
      on: route, dueAt: timestamp, limit: limit, lease: lease, mergingHarder: mergingHarder)
    try await afterTaking(taken)
    return taken
  }

  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await beforeOutboxReading(part.database)
    return try await base.undispatchedChanges(in: part, after: sequence, limit: limit)
  }

  func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await beforeSubscriptionReading(part.database)
    return try await base.subscriptionChanges(in: part, since: position, limit: limit)
  }

  // MARK: As the store behind does

  var administration: any AdministrationStore { base.administration }

  func database(at address: DatabaseAddress) async throws -> DatabaseID {
    try await base.database(at: address)
  }
  func address(of database: DatabaseID) async throws -> DatabaseAddress {
    try await base.address(of: database)
  }
  func access(
    of userRecordName: String?, toTypes names: Set<String>, in database: DatabaseID
  ) async throws -> [String: RecordAccess] {
    try await base.access(of: userRecordName, toTypes: names, in: database)
  }
  var quotas: StoreQuotas { base.quotas }
  func usage(of database: DatabaseID) async throws -> DatabaseUsage? {
    try await base.usage(of: database)
  }
  func addUser(
    named name: String, profile: UserProfile, at timestamp: Timestamp
  ) async throws -> User {
    try await base.addUser(named: name, profile: profile, at: timestamp)
  }
  func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status] {
    try await base.applicationPermissions(
      of: userRecordName, container: container, environment: environment)
  }
  func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws {
    try await base.setApplicationPermissions(
      statuses, of: userRecordName, container: container, environment: environment)
  }
  func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?] {
    try await base.discoverableUsers(
      matching: lookups, container: container, environment: environment)
  }
  func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User] {
    try await base.discoverableUsers(
      container: container, environment: environment, limit: limit)
  }
  func user(named name: String) async throws -> User? { try await base.user(named: name) }
  func user(withRecordName userRecordName: String) async throws -> User? {
    try await base.user(withRecordName: userRecordName)
  }
  func users() async throws -> [User] { try await base.users() }
  func addWebAuthToken(_ token: WebAuthToken) async throws { try await base.addWebAuthToken(token) }
  func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken? {
    try await base.webAuthToken(withHash: hash)
  }
  func modifyRecords(_ modification: RecordModification) async throws -> [RecordOutcome] {
    try await base.modifyRecords(modification)
  }
  func records(_ recordIDs: [RecordID], in database: DatabaseID) async throws -> [Record?] {
    try await base.records(recordIDs, in: database)
  }
  func records(matching query: RecordQuery, in database: DatabaseID) async throws -> RecordPage {
    try await base.records(matching: query, in: database)
  }
  func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome] {
    try await base.modifyZones(operations, in: database, origin: origin, timestamp: timestamp)
  }
  func zones(in database: DatabaseID) async throws -> [Zone] { try await base.zones(in: database) }
  func recordChanges(
    matching query: RecordChangesQuery, in database: DatabaseID
  ) async throws -> RecordChangesPage {
    try await base.recordChanges(matching: query, in: database)
  }
  func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID
  ) async throws -> ZoneChangesPage {
    try await base.zoneChanges(since: token, limit: limit, in: database)
  }
  func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    refusesEqualContent: Bool, timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome] {
    try await base.modifySubscriptions(
      operations, of: subscriber, in: database, refusesEqualContent: refusesEqualContent,
      timestamp: timestamp)
  }
  func subscriptions(
    of subscriber: String, in database: DatabaseID
  ) async throws -> [Subscription] {
    try await base.subscriptions(of: subscriber, in: database)
  }
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?) { base.setDoubtHandler(handler) }

  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?) {
    base.setCommitHandler(handler)
  }
  var metrics: StoreMetrics { base.metrics }
  func fileSizes() async -> StoreFileSizes? { await base.fileSizes() }
  func checkWriting() async throws { try await base.checkWriting() }
  func undispatchedDatabases() async throws -> [DatabaseID] {
    try await base.undispatchedDatabases()
  }
  func saveDeviceToken(_ token: DeviceToken) async throws { try await base.saveDeviceToken(token) }
  func deviceToken(_ token: String, kind: DeviceToken.Kind) async throws -> DeviceToken? {
    try await base.deviceToken(token, kind: kind)
  }
  func saveDeviceToken(_ token: DeviceToken, unlessBeyond limit: Int) async throws -> Bool {
    try await base.saveDeviceToken(token, unlessBeyond: limit)
  }
  func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool {
    try await base.removeDeviceToken(token, kind: kind, of: recipient, at: timestamp)
  }
  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken] {
    try await base.deviceTokens(of: userRecordName)
  }
  func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery] {
    try await base.dueDeliveries(at: timestamp, limit: limit)
  }
  func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp? {
    try await base.nextDeliveryTime(on: route, after: timestamp, for: holder)
  }
  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute] {
    try await base.deliveryRoutes()
  }
  func refusedPushes(limit: Int) async throws -> [RefusedPush] {
    try await base.refusedPushes(limit: limit)
  }
  func owedDeliveryCount() async throws -> Int { owed(try await base.owedDeliveryCount()) }
  func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws {
    try await base.reclaimDeliveries(at: timestamp, exceptOf: holder)
  }
  func courierRegistrations(ofToken token: String) async throws -> [DeviceToken] {
    try await base.courierRegistrations(ofToken: token)
  }
  func nextCourierEntry(
    forToken token: String, after position: CourierPosition
  ) async throws -> CourierEntry? {
    try await base.nextCourierEntry(forToken: token, after: position)
  }
  func acknowledgeCourierEntry(_ entry: LogEntry, forToken token: String) async throws {
    try await base.acknowledgeCourierEntry(entry, forToken: token)
  }
  func trim(at timestamp: Timestamp) async throws { try await base.trim(at: timestamp) }
  var assets: any AssetStore { base.assets }
  func addAssetUploads(
    _ uploads: [AssetUpload], inZone zoneID: ZoneID, of database: DatabaseID
  ) async throws {
    try await base.addAssetUploads(uploads, inZone: zoneID, of: database)
  }
  func assetUpload(
    withTokenHash hash: [UInt8], in database: DatabaseID
  ) async throws -> AssetUpload? {
    try await base.assetUpload(withTokenHash: hash, in: database)
  }
  func finishAssetUpload(
    withReceipt receipt: String, in database: DatabaseID, bytes: AssetBytes, file: AssetFile,
    check: @escaping @Sendable (DatabaseUsage) throws -> Void
  ) async throws {
    try await base.finishAssetUpload(
      withReceipt: receipt, in: database, bytes: bytes, file: file, check: check)
  }
  func rereferenceAssets(
    _ places: [AssetPlace], inZone zoneID: ZoneID, of database: DatabaseID, for user: String,
    timestamp: Timestamp, makeReceipt: @escaping @Sendable () -> String
  ) async throws -> [Asset] {
    try await base.rereferenceAssets(
      places, inZone: zoneID, of: database, for: user, timestamp: timestamp,
      makeReceipt: makeReceipt)
  }
  func assetName(
    forChecksum checksum: String, in database: DatabaseID
  ) async throws -> AssetName? {
    try await base.assetName(forChecksum: checksum, in: database)
  }
  func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8] {
    try await base.secret(named: name, proposing: proposed)
  }
  func close() async { await base.close() }
}
