import CloudKitModel
import StoreModel

/// The queue of deliveries in the store's tables. The dispatcher's transaction writes a delivery
/// together with the log entry. A lease that ends without an outcome makes the delivery due again:
/// a push may be sent twice, but a crash of a server loses none.
public struct DeliveryService: DeliveryQueue {
  let transactions: Transactions

  /// Returns the deliveries of all routes that are due at `timestamp`, without leasing them, those
  /// that are due longest first. A leased delivery is due when its lease has ended.
  public func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery] {
    try await transactions.read {
      try DeliveryTable(transaction: $0).due(at: timestamp, limit: limit)
    }
  }

  /// Returns the next time after `timestamp` at which a server can lease a delivery on a route.
  /// Deliveries that another registered server has leased do not count.
  ///
  /// - Parameter holder: the number of the server (``DeliveryLease/holder``).
  public func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp? {
    try await transactions.read {
      try DeliveryTable(transaction: $0).nextTime(on: route, after: timestamp, for: holder)
    }
  }

  /// Returns the routes by number.
  public func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute] {
    try await transactions.read { try PushRouteTable(transaction: $0).routes() }
  }

  /// Returns the latest refused pushes, newest first. The store keeps one for 30 days, or as long
  /// as the notification log if that is longer.
  public func refusedPushes(limit: Int) async throws -> [RefusedPush] {
    try await transactions.read { try RefusedPushTable(transaction: $0).newest(limit: limit) }
  }

  /// The number of deliveries without a final outcome, in all databases.
  ///
  /// - Complexity: O(*n*), where *n* is the returned number.
  public func owedDeliveryCount() async throws -> Int {
    try await transactions.read { try DeliveryTable(transaction: $0).owedCount() }
  }

  /// Writes the outcomes of deliveries, and carries out their verdicts on devices
  /// (``DeliveryUpdate/device``). A final outcome is never replaced.
  ///
  /// A distributed store runs one transaction for each database. After that, each verdict on a
  /// device is a transaction of its own.
  ///
  /// - Returns: the number of older waiting deliveries that were merged into delivered ones.
  @discardableResult
  public func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int {
    let counts = try await transactions.inEachDatabase(of: updates, settlesDeliveries: true) {
      transaction, updates in
      let deliveries = DeliveryTable(transaction: transaction)
      return try updates.reduce(0) { try $0 + deliveries.apply($1) }
    }
    // If a crash prevents a verdict, the service's answer to the device's next push repeats it.
    for update in updates {
      guard let verdict = update.device else { continue }
      try await carryOut(verdict, onDeviceOf: update.id, at: update.timestamp)
    }
    return counts.reduce(0, +)
  }

  private func carryOut(
    _ verdict: DeliveryUpdate.DeviceVerdict, onDeviceOf id: Delivery.ID, at now: Timestamp
  ) async throws {
    try await transactions.writeDevices { transaction, orders in
      guard let device = try DeliveryTable(transaction: transaction).device(of: id) else { return }
      let devices = DeviceTable(transaction: transaction)
      switch verdict {
      case .gone(let moment):
        try devices.drop(device, registeredBefore: moment, at: now, ordering: &orders)
      case .refused(let topic): try devices.noteRefusal(of: device, topic: topic, at: now)
      case .accepted: try devices.forgetRefusal(of: device)
      }
    }
  }

  /// Leases due deliveries on a route to the caller, those that are due longest first. Deliveries
  /// that another registered server has leased are left out. If a newer delivery can replace a due
  /// one (``DeliveryMergeKey``), the due one is merged into it and not returned. The write locks no
  /// database (`WriteLocks.deliveries`).
  ///
  /// - Parameters:
  ///   - limit: the most deliveries leased and merged.
  ///   - mergingHarder: whether a silent delivery is also merged into a newer silent one of another
  ///     subscription, to the same device and in the same database. The caller sets this when many
  ///     deliveries wait.
  public func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries {
    let claim = DeliveryClaim(
      route: route, timestamp: timestamp, lease: lease, mergesHarder: mergingHarder)
    let limit = max(0, limit)
    var claimed = DeliveryClaim.Result()
    if transactions.context.isDistributed {
      let due = try await transactions.read { try claim.due(atMost: limit, in: $0) }
      let results = try await transactions.inEachDatabase(of: due, settlesDeliveries: true) {
        transaction, ids in
        var claim = claim
        try claim.take(ids, in: transaction)
        return claim.result
      }
      for result in results { claimed.add(result) }
      claimed.isAll = due.count < limit
    } else {
      claimed = try await transactions.write(locking: .deliveries) { transaction in
        var claim = claim
        try claim.take(atMost: limit, in: transaction)
        return claim.result
      }
    }
    // A read transaction loads the contents: the writing threads have less to do.
    let (deliveries, lost) = try await transactions.read { [claimed] in
      try DeliveryTable(transaction: $0).deliveries(claimed.taken, at: timestamp)
    }
    if !lost.isEmpty {
      try await updateDeliveries(
        lost.map {
          DeliveryUpdate(
            id: $0,
            state: .abandoned(reason: "its registration has ended, or its log entry is gone"),
            timestamp: timestamp)
        })
    }
    return TakenDeliveries(
      deliveries: deliveries, renewed: claimed.renewed, mergedCount: claimed.mergedCount,
      lostCount: lost.count, isAll: claimed.isAll)
  }

  /// Ends the leases of all processes that are not registered servers, except those of `holder`.
  /// Their deliveries become due at `timestamp`.
  public func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws {
    var isDone = false
    while !isDone {
      let left = try await transactions.read {
        try DeliveryTable(transaction: $0).takenByGoneServers(at: timestamp, exceptOf: holder)
      }
      try await transactions.inEachDatabase(of: left, settlesDeliveries: true) {
        try DeliveryTable(transaction: $0).reclaim($1, at: timestamp, exceptOf: holder)
      }
      isDone = left.count < DeliveryTable.reclaimBatch
    }
  }
}
