import CloudKitModel

/// The deliveries that are owed to devices.
public protocol DeliveryQueue: Sendable {
  /// Deliveries that have no final outcome and are due at `timestamp`, oldest first.
  func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery]
  /// The ways that deliveries have gone so far.
  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute]
  /// How many deliveries have no final outcome.
  func owedDeliveryCount() async throws -> Int
  /// When the next delivery on a route is due after `timestamp`, or its lease ends; nil when none is.
  /// Those that another server than `holder` has taken do not count.
  func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp?
  /// Leases to the caller deliveries on a route that are due and that no other server has, oldest
  /// first. Those in whose place a
  /// newer one can go (``DeliveryMergeKey``) are merged into that and not among them.
  ///
  /// - Parameter mergingHarder: a silent one is merged into a newer silent one for its device whatever
  ///   their subscriptions.
  func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries
  /// Ends the leases of processes that are known to be gone: of all that are no registered server, but
  /// this one.
  func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws
  /// Writes what became of deliveries; one that has a final outcome keeps it. Answers how many others
  /// were merged into them.
  @discardableResult
  func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int
  /// The latest pushes that were refused by a fault of ours, newest first; they are kept for 30 days.
  func refusedPushes(limit: Int) async throws -> [RefusedPush]
}
