import CloudKitModel
import Foundation
import StoreModel
import WebServices

/// `zones/list`, `zones/lookup` and `zones/modify`.
struct ZonesEndpoint: Sendable {
  let store: any ZoneStore
  let databases: DatabaseDirectory

  func list(_ context: RequestContext) async throws -> Data {
    let database = try await databases.database(at: try context.address())
    var zones = try await store.zones(in: database)
    // What is shared with a user lies in other users' zones; there is no default one among them.
    if try context.scope() == .shared { zones.removeAll { $0.zoneID.isDefaultZone } }
    return ZonesResponse(zones: zones.map { .success(Self.item($0)) })
      .body(context: context.messageContext())
  }

  func lookup(_ context: RequestContext) async throws -> Data {
    let address = try context.address()
    let request = try LookupZonesRequest(parsing: context.body, context: context.messageContext())
    let database = try await databases.database(at: address)
    let existing = Dictionary(
      try await store.zones(in: database).map { ($0.zoneID, $0) },
      uniquingKeysWith: { first, _ in first })
    let items = request.zoneIDs.map { zoneID -> Result<ZonesResponse.Item, FailedItem> in
      if let zone = existing[zoneID] { return .success(Self.item(zone)) }
      return .failure(
        FailedItem(
          .zone(zoneID), ServiceError(.zoneNotFound, "zone '\(zoneID)' does not exist")))
    }
    return ZonesResponse(zones: context.reported(items)).body(context: context.messageContext())
  }

  func modify(_ context: RequestContext) async throws -> Data {
    let origin = try context.origin()
    guard try context.scope() == .private else {
      throw ServiceError(
        .badDatabase,
        "zones can be made and deleted in the private database only, not in the "
          + "\(try context.scope().pathComponent) one")
    }
    let request = try ModifyZonesRequest(parsing: context.body, context: context.messageContext())
    let database = try await databases.database(at: try context.address())
    let outcomes = try await store.modifyZones(
      // Those that failed already have their answers.
      request.operations.compactMap { try? $0.get() }, in: database, origin: origin,
      timestamp: context.now)
    var remaining = outcomes[...]
    let items = request.operations.map { operation in
      operation.flatMap { _ -> Result<ZonesResponse.Item, FailedItem> in
        switch remaining.popFirst() {
        case .saved(let zone): .success(Self.item(zone))
        case .deleted(let zoneID): .success(.deleted(zoneID))
        case .failed(let zoneID, let failure):
          .failure(FailedItem(.zone(zoneID), ServiceError(failure)))
        case nil:
          .failure(
            FailedItem(
              .unknown,
              ServiceError(.internalError, "the store gave no outcome for this operation")))
        }
      }
    }
    return ZonesResponse(zones: context.reported(items)).body(context: context.messageContext())
  }

  private static func item(_ zone: Zone) -> ZonesResponse.Item {
    .zone(zone.zoneID, isAtomic: !zone.zoneID.isDefaultZone, syncToken: zone.changeToken)
  }
}
