import Storage
import StoreModel

/// The parts of a store that the dispatcher uses. The dispatcher matches committed changes against
/// subscriptions.
public struct DispatchStore: Sendable {
  let databases: DatabaseService
  /// The committed changes, and the writes of their effects.
  public var outbox: any OutboxStore
  /// The subscriptions with which the dispatcher fills its matching index.
  public var subscriptions: any SubscriptionFeed
  /// Checks that the store can write; see `Store.checkWriting()`.
  let checkWriting: @Sendable () async throws -> Void

  /// Takes the parts of a store. Tests replace some of them.
  public init(_ store: Store) {
    databases = store.databases
    outbox = store.outbox
    subscriptions = store.subscriptions
    checkWriting = { try await store.checkWriting() }
  }
}
