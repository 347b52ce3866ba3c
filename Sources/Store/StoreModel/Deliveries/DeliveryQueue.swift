import CloudKitModel

/// The queue of deliveries to devices.
///
/// The delivery worker takes due deliveries of one route under a lease, sends the pushes, and
/// writes the outcomes:
///
/// 1. ``takeDeliveries(on:dueAt:limit:lease:mergingHarder:)`` leases a batch.
/// 2. The worker sends each push.
/// 3. ``updateDeliveries(_:)`` ends the leases with the outcomes.
public protocol DeliveryQueue: Sendable {
  /// Returns deliveries without a final outcome that are due at `timestamp`, oldest first. A lease
  /// that has ended counts as due.
  func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery]
  /// Returns the routes of all deliveries so far.
  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute]
  /// Returns the number of deliveries without a final outcome, in all databases.
  func owedDeliveryCount() async throws -> Int
  /// Returns the next time after `timestamp` at which a delivery on a route is due or its lease
  /// ends; nil if there is none. Deliveries that another server than `holder` has leased do not
  /// count.
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
  /// Returns the latest pushes that were refused because of a fault in Petrel, newest first. They
  /// are kept for 30 days.
  func refusedPushes(limit: Int) async throws -> [RefusedPush]
}
