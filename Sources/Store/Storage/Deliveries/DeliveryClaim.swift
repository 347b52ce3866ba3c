import CloudKitModel
import SQLEngine
import StoreModel

/// A claim to due deliveries, in the writer's transaction: it merges those that a newer one can
/// replace, and leases the others.
///
/// The claim is a value that collects its ``result``. In a distributed store there is a claim for
/// each database, and the service adds their results.
struct DeliveryClaim {
  /// The deliveries that a claim has taken, with counts.
  struct Result: Sendable {
    /// The leased deliveries, in the order of their times.
    var taken: [Delivery.ID] = []
    /// Taken deliveries whose earlier lease had ended.
    var renewed: Set<Delivery.ID> = []
    /// The number of due deliveries that a newer one replaced.
    var mergedCount = 0
    /// Whether no more were due. If it is false, the caller claims again.
    var isAll = true

    /// Adds another claim's deliveries and counts. ``isAll`` stays as it is.
    mutating func add(_ other: Result) {
      taken += other.taken
      renewed.formUnion(other.renewed)
      mergedCount += other.mergedCount
    }
  }

  /// The route whose deliveries are claimed.
  let route: DeliveryRoute.ID
  /// The present: deliveries that are due at this time or earlier are claimed.
  let timestamp: Timestamp
  /// The caller, and the end of the lease.
  let lease: DeliveryLease
  /// Whether a silent delivery is merged into a newer silent one of any subscription, so that a
  /// device has only one waiting.
  ///
  /// The caller sets it for a backlog, in which a device has many silent notifications waiting.
  let mergesHarder: Bool
  private(set) var result = Result()
  /// The newest silent delivery that waits for a device, by device and database. The cache saves a
  /// statement for each further delivery to the device.
  private var newestSilent: [Reader: Int64] = [:]

  /// A device and a database with deliveries to it.
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

  /// Takes due deliveries of all databases.
  ///
  /// The deliveries' rows are locked first. Those that another server has locked are left out.
  mutating func take(atMost limit: Int, in transaction: StoreTransaction) throws {
    let table = DeliveryTable(transaction: transaction)
    let due = try table.claimable(on: route, dueAt: timestamp, by: lease.holder, limit: limit)
    try take(due, in: table)
    result.isAll = due.count < limit
  }

  /// The due deliveries that the caller could take, without taking or locking them. A distributed
  /// store reads them first, and then takes them by database.
  func due(atMost limit: Int, in transaction: StoreTransaction) throws -> [Delivery.ID] {
    try DeliveryTable(transaction: transaction)
      .due(on: route, at: timestamp, for: lease.holder, limit: limit)
  }

  /// Takes deliveries of one database that were due a moment ago and still are.
  mutating func take(_ ids: [Delivery.ID], in transaction: StoreTransaction) throws {
    let table = DeliveryTable(transaction: transaction)
    let due = try ids.compactMap {
      try table.claimable($0, on: route, dueAt: timestamp, by: lease.holder)
    }
    try take(due, in: table)
  }

  /// Merges or leases each delivery.
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

  /// The number of the newest delivery for the same device that can replace this one; nil if this
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

  /// The number of the newest silent delivery that waits for the device, whatever its subscription.
  /// The number is read once for each device and database.
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
