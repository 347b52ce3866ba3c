/// The parts of a store that the dispatcher uses.
public struct DispatchStore: Sendable {
  public var databases: any DatabaseReading
  public var outbox: any OutboxStore
  public var subscriptions: any SubscriptionFeed
  public var health: any StoreHealth

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
