import CloudKitModel

/// The queue of deliveries to devices. A delivery is the task to send one notification to one
/// device.
///
/// The delivery worker of a server processes the due deliveries of one route (``DeliveryRoute``) in
/// three steps:
///
/// 1. ``takeDeliveries(on:dueAt:limit:lease:mergingHarder:)`` leases a batch: until the lease ends,
///    no other server sends these deliveries.
/// 2. The worker sends each push.
/// 3. ``updateDeliveries(_:)`` writes the outcomes and ends the leases.
public protocol DeliveryQueue: Sendable {
  /// Returns the deliveries of all routes that are due at `timestamp`, without leasing them. Those
  /// that are due longest come first. A leased delivery is due when its lease has ended.
  func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery]
  /// Returns all routes by their numbers.
  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute]
  /// Returns the number of deliveries without a final outcome, in all databases.
  func owedDeliveryCount() async throws -> Int
  /// Returns the next time after `timestamp` at which a server can lease a delivery on a route; nil
  /// if there is none.
  ///
  /// - Parameter holder: the number of the server (``DeliveryLease/holder``). Deliveries that
  ///   another registered server has leased do not count.
  func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp?
  /// Leases due deliveries on a route to the caller, and returns them. Those that are due longest
  /// come first. Deliveries that another registered server has leased are left out. If a newer
  /// delivery can replace a due one (``DeliveryMergeKey``), the due one is merged into the newer
  /// one, and the result does not have it.
  ///
  /// - Parameters:
  ///   - limit: the most deliveries leased and merged.
  ///   - mergingHarder: whether a silent delivery is also merged into a newer silent one of another
  ///     subscription, to the same device and in the same database. The caller sets this when many
  ///     deliveries wait.
  func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries
  /// Ends the leases of all processes that are not registered servers, except those of `holder`.
  /// Their deliveries become due at `timestamp`.
  func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws
  /// Writes the outcomes of deliveries, and carries out their verdicts on devices
  /// (``DeliveryUpdate/device``). A final outcome is never replaced.
  ///
  /// - Returns: the number of older waiting deliveries that were merged into delivered ones.
  @discardableResult
  func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int
  /// Returns the latest refused pushes, newest first. The store keeps a refused push for 30 days,
  /// or longer if it keeps the notification log longer.
  func refusedPushes(limit: Int) async throws -> [RefusedPush]
}
