import CloudKitModel

/// The queue of deliveries to devices.
///
/// The delivery worker of a server processes the due deliveries of one route (``DeliveryRoute``) in
/// three steps:
///
/// 1. ``takeDeliveries(on:dueAt:limit:lease:mergingHarder:)`` leases a batch: until the lease ends,
///    no other server sends these deliveries.
/// 2. The worker sends each push.
/// 3. ``updateDeliveries(_:)`` writes the outcomes and ends the leases.
///
/// `DeliveryService` implements and documents the methods. The protocol lets a test delay or fail the
/// calls of a delivery worker.
public protocol DeliveryQueue: Sendable {
  func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery]
  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute]
  func owedDeliveryCount() async throws -> Int
  func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp?
  func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries
  func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws
  @discardableResult
  func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int
  func refusedPushes(limit: Int) async throws -> [RefusedPush]
}
