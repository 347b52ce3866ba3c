/// What the dispatcher needs of a store.
public typealias DispatchStore = DatabaseReading & OutboxStore & SubscriptionFeed & StoreHealth
