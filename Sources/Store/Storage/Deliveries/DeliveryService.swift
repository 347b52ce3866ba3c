import CloudKitModel
import SQLEngine
import StoreModel

/// The queue of deliveries to devices.
///
/// A delivery is the task to send one notification to one device:
///
/// 1. The dispatcher's transaction writes the delivery, together with the entry of the notification
///    log.
/// 2. A server *claims* the delivery: a lease keeps other servers from sending it.
/// 3. The server sends the push and writes the outcome.
///
/// A lease that ends without an outcome makes the delivery due again. So a push may be sent twice,
/// but a crash of a server loses none.
struct DeliveryService: DeliveryQueue {
  let transactions: Transactions

  /// Returns due deliveries of all routes without claiming them. Those that are due longest come
  /// first.
  func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery] {
    try await transactions.read {
      try DeliveryTable(transaction: $0).due(at: timestamp, limit: limit)
    }
  }

  /// Returns the next time after `timestamp` at which the caller can claim a delivery on a route;
  /// nil if no delivery waits for such a time.
  ///
  /// - Parameter holder: the number of the calling server.
  func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp? {
    try await transactions.read {
      try DeliveryTable(transaction: $0).nextTime(on: route, after: timestamp, for: holder)
    }
  }

  /// Returns all routes by their numbers.
  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute] {
    try await transactions.read { try PushRouteTable(transaction: $0).routes() }
  }

  /// Returns the latest refused pushes with their payloads, the newest first.
  func refusedPushes(limit: Int) async throws -> [RefusedPush] {
    try await transactions.read { try RefusedPushTable(transaction: $0).newest(limit: limit) }
  }

  /// Returns the number of deliveries without a final outcome, in all databases.
  ///
  /// - Complexity: O(*n*), where *n* is the returned number.
  func owedDeliveryCount() async throws -> Int {
    try await transactions.read { try DeliveryTable(transaction: $0).owedCount() }
  }

  /// Writes the outcomes of deliveries in one transaction. A distributed store runs one transaction
  /// for each database.
  ///
  /// After that, the method carries out the services' verdicts on devices, each in a transaction of its
  /// own.
  ///
  /// - Returns: the number of older waiting deliveries that were merged into delivered ones.
  @discardableResult
  func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int {
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

  /// Changes or deletes the registration of a delivery's device. If the method deletes it, it abandons the
  /// waiting deliveries to the device.
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

  /// Claims due deliveries on a route, and returns them with their contents.
  ///
  /// The claim is a write under ``WriteLocks/deliveries``, which locks no database. The method
  /// abandons a claimed delivery that cannot be sent: its device or log entry was deleted, or the
  /// device now has another user or container.
  ///
  /// - Parameters:
  ///   - timestamp: the present time; deliveries that are due by then are claimed.
  ///   - limit: the most deliveries claimed; a number below 0 counts as 0.
  ///   - mergingHarder: whether silent deliveries of different subscriptions are merged; see
  ///     ``DeliveryClaim/mergesHarder``.
  func takeDeliveries(
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

  /// Ends the leases of processes that are not registered servers, in batches of
  /// ``DeliveryTable/reclaimBatch``. Other servers can then claim the deliveries at once.
  ///
  /// - Parameter holder: the number of the calling process. Its own leases stay, although the
  ///   process may not be registered.
  func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws {
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
