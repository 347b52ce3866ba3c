import ChangeDispatch
import CloudKitModel
import Storage
import StoreModel

/// Calls of the dispatcher to its store that a test can hold up or let fail.
///
/// ```swift
/// var hooks = DispatchHooks()
/// hooks.beforeCompletion = { _ in throw StoreError(.overloaded, "for a test") }
/// let running = RunningDispatcher(hooks.around(world.store))
/// ```
struct DispatchHooks: Sendable {
  typealias Hook<Argument> = @Sendable (Argument) async throws -> Void

  var beforeCompletion: Hook<[MatchedChange]> = { _ in }
  var afterCompletion: Hook<[MatchedChange]> = { _ in }
  var beforeOutboxReading: Hook<DatabaseID> = { _ in }
  var beforeSubscriptionReading: Hook<DatabaseID> = { _ in }

  func around(_ store: Store) -> DispatchStore {
    var hooked = DispatchStore(store)
    hooked.outbox = HookedOutbox(base: store.outbox, hooks: self)
    hooked.subscriptions = HookedSubscriptionFeed(base: store.subscriptions, hooks: self)
    return hooked
  }
}

private struct HookedOutbox: OutboxStore {
  let base: any OutboxStore
  let hooks: DispatchHooks

  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing capacity: DeliveryCapacity?
  ) async throws -> DispatchResult {
    try await hooks.beforeCompletion(changes)
    let result = try await base.completeDispatch(
      of: changes, timestamp: timestamp, leasing: capacity)
    try await hooks.afterCompletion(changes)
    return result
  }

  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await hooks.beforeOutboxReading(part.database)
    return try await base.undispatchedChanges(in: part, after: sequence, limit: limit)
  }

  func forwards(
    of entries: [OutboxEntry], after earlier: [OutboxEntry]
  ) async throws -> [[MatchedChange]] {
    try await base.forwards(of: entries, after: earlier)
  }
  func deferredSubscribers(in part: DatabasePart) async throws -> [String] {
    try await base.deferredSubscribers(in: part)
  }
  func deferredWork(
    of subscriber: String, in part: DatabasePart, limit: Int, ofAtMost most: Int
  ) async throws -> DeferredWork? {
    try await base.deferredWork(of: subscriber, in: part, limit: limit, ofAtMost: most)
  }
  func prepare(_ change: inout MatchedChange, within bytes: Int) {
    base.prepare(&change, within: bytes)
  }
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?) {
    base.setCommitHandler(handler)
  }
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?) { base.setDoubtHandler(handler) }
  func undispatchedDatabases() async throws -> [DatabaseID] {
    try await base.undispatchedDatabases()
  }
}

private struct HookedSubscriptionFeed: SubscriptionFeed {
  let base: any SubscriptionFeed
  let hooks: DispatchHooks

  func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await hooks.beforeSubscriptionReading(part.database)
    return try await base.subscriptionChanges(in: part, since: position, limit: limit)
  }
}
