/// The protocols of a store that the dispatcher uses. The dispatcher matches committed changes
/// against subscriptions.
public struct DispatchStore: Sendable {
  /// The lookups of databases, for their addresses.
  public var databases: any DatabaseReading
  /// The committed changes, and the writes of their effects.
  public var outbox: any OutboxStore
  /// The subscriptions with which the dispatcher fills its matching index.
  public var subscriptions: any SubscriptionFeed
  /// The check whether the store can write.
  public var health: any StoreHealth

  /// Creates a value from its parts. Tests pass their own implementations.
  public init(
    databases: any DatabaseReading, outbox: any OutboxStore, subscriptions: any SubscriptionFeed,
    health: any StoreHealth
  ) {
    self.databases = databases
    self.outbox = outbox
    self.subscriptions = subscriptions
    self.health = health
  }

  /// Creates a value with the parts of a store.
  public init(_ store: any Store) {
    self.init(
      databases: store.databases, outbox: store.outbox, subscriptions: store.subscriptions,
      health: store)
  }
}
