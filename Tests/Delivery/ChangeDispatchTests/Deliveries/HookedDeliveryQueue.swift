import CloudKitModel
import StoreModel

/// The delivery worker's store, with calls that a test can hold up or let fail.
struct HookedDeliveryQueue: DeliveryQueue {
  typealias Hook<Argument> = @Sendable (Argument) async throws -> Void

  let base: any DeliveryQueue
  var beforeUpdate: Hook<[DeliveryUpdate]> = { _ in }
  var afterUpdate: Hook<[DeliveryUpdate]> = { _ in }
  var afterTaking: Hook<TakenDeliveries> = { _ in }
  /// Answers how many are owed, given what the store behind says.
  var owed: @Sendable (Int) -> Int = { $0 }

  init(_ base: any DeliveryQueue) { self.base = base }

  func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int {
    try await beforeUpdate(updates)
    let merged = try await base.updateDeliveries(updates)
    try await afterUpdate(updates)
    return merged
  }

  func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries {
    let taken = try await base.takeDeliveries(
      on: route, dueAt: timestamp, limit: limit, lease: lease, mergingHarder: mergingHarder)
    try await afterTaking(taken)
    return taken
  }

  func owedDeliveryCount() async throws -> Int { owed(try await base.owedDeliveryCount()) }

  // MARK: As the store behind does

  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute] {
    try await base.deliveryRoutes()
  }
  func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp? {
    try await base.nextDeliveryTime(on: route, after: timestamp, for: holder)
  }
  func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws {
    try await base.reclaimDeliveries(at: timestamp, exceptOf: holder)
  }
}
