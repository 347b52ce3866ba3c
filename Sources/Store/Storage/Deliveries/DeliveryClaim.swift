import CloudKitModel
import SQLEngine
import StoreModel

/// Takes deliveries that are due, in the writer's transaction: those that may be merged into a newer
/// one are, the others are leased.
struct DeliveryClaim {
  struct Result: Sendable {
    var taken: [Delivery.ID] = []
    /// Those of them whose lease had ended.
    var renewed: Set<Delivery.ID> = []
    var mergedCount = 0
    /// Whether no more were due.
    var isAll = true

    mutating func add(_ other: Result) {
      taken += other.taken
      renewed.formUnion(other.renewed)
      mergedCount += other.mergedCount
    }
  }

  let route: DeliveryRoute.ID
  let timestamp: Timestamp
  let lease: DeliveryLease
  /// Whether a silent one goes for a newer one of any subscription, so that what waits for a device
  /// becomes one.
  let mergesHarder: Bool
  private(set) var result = Result()
  /// The newest silent one that waits for a device, by device and database.
  private var newestSilent: [Reader: Int64] = [:]

  private struct Reader: Hashable {
    var device: Int64
    var database: DatabaseID
  }

  init(
    route: DeliveryRoute.ID, timestamp: Timestamp, lease: DeliveryLease, mergesHarder: Bool
  ) {
    self.route = route
    self.timestamp = timestamp
    self.lease = lease
    self.mergesHarder = mergesHarder
  }

  /// Takes those that are due, whatever database they are of.
  mutating func take(atMost limit: Int, in transaction: StoreTransaction) throws {
    let table = DeliveryTable(transaction: transaction)
    let due = try table.claimable(on: route, dueAt: timestamp, by: lease.holder, limit: limit)
    try take(due, in: table)
    result.isAll = due.count < limit
  }

  /// Those that are due, whoever takes them first.
  func due(atMost limit: Int, in transaction: StoreTransaction) throws -> [Delivery.ID] {
    try DeliveryTable(transaction: transaction)
      .due(on: route, at: timestamp, for: lease.holder, limit: limit)
  }

  /// Takes those of one database that were due a moment ago, and still are.
  mutating func take(_ ids: [Delivery.ID], in transaction: StoreTransaction) throws {
    let table = DeliveryTable(transaction: transaction)
    let due = try ids.compactMap {
      try table.claimable($0, on: route, dueAt: timestamp, by: lease.holder)
    }
    try take(due, in: table)
  }

  private mutating func take(_ due: [DueDelivery], in table: DeliveryTable) throws {
    for delivery in due {
      if let newer = try newer(than: delivery, in: table) {
        try table.merge(delivery.id, into: newer, at: timestamp)
        result.mergedCount += 1
      } else {
        try table.lease(delivery.id, lease)
        result.taken.append(delivery.id)
        if delivery.wasLeased { result.renewed.insert(delivery.id) }
      }
    }
  }

  /// The number of the newest one for the same device that says all that this one says; nil when this
  /// is the newest.
  private mutating func newer(
    than delivery: DueDelivery, in table: DeliveryTable
  ) throws -> Int64? {
    guard let key = delivery.mergeKey else { return nil }
    guard mergesHarder, key.hasPrefix(DeliveryMergeKey.silentPrefix) else {
      return try table.newest(withKey: key, behind: delivery)
    }
    let newest = try newestSilent(for: delivery, in: table)
    return newest > delivery.id.number ? newest : nil
  }

  private mutating func newestSilent(
    for delivery: DueDelivery, in table: DeliveryTable
  ) throws -> Int64 {
    let reader = Reader(device: delivery.device, database: delivery.id.database)
    if let known = newestSilent[reader] { return known }
    let newest =
      try table.newestSilent(for: reader.device, in: reader.database) ?? delivery.id.number
    newestSilent[reader] = newest
    return newest
  }
}
