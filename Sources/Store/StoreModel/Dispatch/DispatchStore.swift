/// The parts of a store that the dispatcher uses.
public struct DispatchStore: Sendable {
  /// The lookups of databases, for their addresses.
  public var databases: any DatabaseReading
  /// The committed changes, and the writes of their effects.
  public var outbox: any OutboxStore
  /// The subscriptions that fill the matching index.
  public var subscriptions: any SubscriptionFeed
  /// The check whether the store can write.
  public var health: any StoreHealth

  /// Creates a list of parts; tests pass their own ones.
  public init(
    databases: any DatabaseReading, outbox: any OutboxStore, subscriptions: any SubscriptionFeed,
    health: any StoreHealth
  ) {
    self.databases = databases
    self.outbox = outbox
    self.subscriptions = subscriptions
    self.health = health
  }

  /// Takes the dispatcher's parts of a whole store.
  public init(_ store: any Store) {
    self.init(
      databases: store.databases, outbox: store.outbox, subscriptions: store.subscriptions,
      health: store)
  }
}
