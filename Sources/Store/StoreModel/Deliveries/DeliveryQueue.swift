import CloudKitModel

/// The queue of deliveries to devices.
public protocol DeliveryQueue: Sendable {
  /// Deliveries without a final outcome that are due at `timestamp`, oldest first.
  func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery]
  /// The routes of all deliveries so far.
  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute]
  /// The number of deliveries without a final outcome.
  func owedDeliveryCount() async throws -> Int
  /// The next time after `timestamp` at which a delivery on a route is due or its lease ends; nil
  /// if there is none. Deliveries that another server than `holder` has leased do not count.
  func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp?
  /// Leases due deliveries on a route to the caller, oldest first, except those that another server
  /// has leased. A delivery that a newer one can replace (``DeliveryMergeKey``) is merged into it
  /// and not returned.
  ///
  /// - Parameter mergingHarder: merges a silent delivery into a newer silent one for its device,
  ///   whatever their subscriptions.
  func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries
  /// Ends the leases of all processes that are not registered servers, except those of `holder`.
  func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws
  /// Writes the outcomes of deliveries; a final outcome is never replaced. Returns the number of
  /// other deliveries merged into them.
  @discardableResult
  func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int
  /// The latest pushes that were refused because of a fault in Petrel, newest first; kept for
  /// 30 days.
  func refusedPushes(limit: Int) async throws -> [RefusedPush]
}
