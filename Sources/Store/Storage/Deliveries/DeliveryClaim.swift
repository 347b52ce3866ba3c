import CloudKitModel
import StoreModel

/// The claim of one server to due deliveries, made in a transaction that writes.
///
/// The claim *merges* a due delivery into a newer one that can replace it: the older delivery is
/// never sent. The claim *leases* the other due deliveries: until the lease ends, no other server
/// sends them. In a distributed store, ``DeliveryService`` makes a claim for each database and adds
/// the results.
struct DeliveryClaim {
  /// The outcome of a claim.
  struct Result: Sendable {
    /// Deliveries due longest come first; in a distributed store, within each database only.
    var taken: [Delivery.ID] = []
    /// Deliveries of ``taken`` whose earlier lease ended without an outcome.
    var renewed: Set<Delivery.ID> = []
    var mergedCount = 0
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
  /// Whether a silent delivery is merged into a newer silent delivery of any subscription to the
  /// same device and database. If false, both must be of one subscription. The caller sets this
  /// when many deliveries wait.
  let mergesHarder: Bool
  private(set) var result = Result()
  /// Saves a statement for each further delivery to the device.
  private var newestSilent: [Reader: Int64] = [:]

  /// A device, and a database with deliveries to it.
  private struct Reader: Hashable {
    /// The number of the device's token (``DeviceTable``).
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

  /// Merges or leases due deliveries of all databases. The method locks their rows first, and
  /// leaves out rows that another server has locked.
  mutating func take(atMost limit: Int, in transaction: StoreTransaction) throws {
    let table = DeliveryTable(transaction: transaction)
    let due = try table.claimable(on: route, dueAt: timestamp, by: lease.holder, limit: limit)
    try take(due, in: table)
    result.isAll = due.count < limit
  }

  /// Without locks. A distributed store then calls ``take(_:in:)`` for each database.
  func due(atMost limit: Int, in transaction: StoreTransaction) throws -> [Delivery.ID] {
    try DeliveryTable(transaction: transaction)
      .due(on: route, at: timestamp, for: lease.holder, limit: limit)
  }

  /// - Parameter ids: those that are no longer due, or that another server has locked, are left
  ///   out.
  mutating func take(_ ids: [Delivery.ID], in transaction: StoreTransaction) throws {
    let table = DeliveryTable(transaction: transaction)
    let due = try ids.compactMap {
      try table.claimable($0, on: route, dueAt: timestamp, by: lease.holder)
    }
    try take(due, in: table)
  }

  /// The rows are locked.
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
