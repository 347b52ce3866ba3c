import CloudKitModel
import StoreModel

/// The dispatcher's store, with calls that a test can hold up or let fail.
struct HookedDispatchStore: DispatchStore {
  typealias Hook<Argument> = @Sendable (Argument) async throws -> Void

  let base: any DispatchStore
  var beforeCompletion: Hook<[MatchedChange]> = { _ in }
  var afterCompletion: Hook<[MatchedChange]> = { _ in }
  var beforeOutboxReading: Hook<DatabaseID> = { _ in }
  var beforeSubscriptionReading: Hook<DatabaseID> = { _ in }

  init(_ base: any DispatchStore) { self.base = base }

  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing room: DeliveryRoom?
  ) async throws -> DispatchResult {
    try await beforeCompletion(changes)
    let result = try await base.completeDispatch(
      of: changes, timestamp: timestamp, leasing: room)
    try await afterCompletion(changes)
    return result
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

  func prepare(_ change: inout MatchedChange) { base.prepare(&change) }
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?) {
    base.setCommitHandler(handler)
  }
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?) { base.setDoubtHandler(handler) }
  func undispatchedDatabases() async throws -> [DatabaseID] {
    try await base.undispatchedDatabases()
  }
  func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID? {
    try await base.existingDatabase(at: address)
  }
  func address(of database: DatabaseID) async throws -> DatabaseAddress {
    try await base.address(of: database)
  }
  func usage(of database: DatabaseID) async throws -> DatabaseUsage? {
    try await base.usage(of: database)
  }
  var metrics: StoreMetrics { base.metrics }
  func fileSizes() async -> StoreFileSizes? { await base.fileSizes() }
  func checkWriting() async throws { try await base.checkWriting() }
}
