import CloudKitModel
import Foundation
import Storage
import StoreModel
import WebServices

/// The endpoint of `zones/list`, `zones/lookup` and `zones/modify`.
struct ZonesEndpoint: Sendable {
  let store: ZoneService
  let databases: DatabaseDirectory

  var operations: [Operation] {
    [
      Operation(
        "zones/list", of: .anyDatabase, for: .everyone, .reads, list,
        .init(
          "Zones", "All zones of a database",
          answer: "All zones, the default zone included. A shared database has no default zone.")),
      Operation(
        "zones/lookup", of: .anyDatabase, for: .everyone, .reads, lookup,
        .init("Zones", "Zones by their IDs", answer: "One item for each zone, in order.")),
      Operation(
        "zones/modify", of: .database([.private, .shared]), for: .accounts, .changes, modify,
        .init(
          "Zones", "Make and delete zones",
          """
          The private database has the caller's own zones. In the shared database, deleting a zone of \
          another user ends the caller's part in its shares.
          """,
          answer: "One item for each operation, in order. Each succeeds or fails by itself.")),
    ]
  }

  /// Answers `zones/list`: all zones of the database.
  private func list(_ context: RequestContext) async throws -> ZonesResponse {
    let contents = try await databases.contents(for: context)
    let zones = try await contents.zones.zones(in: contents.database)
    return ZonesResponse(zones: zones.map { .success(Self.item($0)) })
  }

  /// Answers `zones/lookup`: one item for each zone, in the order of the request. An unknown zone
  /// gets `ZONE_NOT_FOUND`.
  private func lookup(
    _ request: LookupZonesRequest, _ context: RequestContext
  ) async throws -> ZonesResponse {
    let contents = try await databases.contents(for: context)
    let existing = Dictionary(
      try await contents.zones.zones(in: contents.database).map { ($0.zoneID, $0) },
      uniquingKeysWith: { first, _ in first })
    let address = try context.address()
    let items = request.zoneIDs.map { zoneID -> Result<ZonesResponse.Item, FailedItem> in
      if let zone = existing[zoneID] { return .success(Self.item(zone)) }
      return .failure(FailedItem(.zone(zoneID), ServiceError(address.missing(zoneID))))
    }
    return ZonesResponse(zones: context.reported(items))
  }

  /// Answers `zones/modify`: one item for each operation, in the order of the request. Each
  /// operation succeeds or fails by itself.
  private func modify(
    _ request: ModifyZonesRequest, _ context: RequestContext
  ) async throws -> ZonesResponse {
    let origin = try context.origin()
    let database = try await databases.database(for: context)
    let outcomes = try await store.modifyZones(
      // An operation that failed already has its error as its answer.
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
              ServiceError(.internalError, "the store returned no result for this operation")))
        }
      }
    }
    return ZonesResponse(zones: context.reported(items))
  }

  /// Returns the zone as an item of an answer. Every zone except the default zone allows atomic
  /// requests.
  private static func item(_ zone: Zone) -> ZonesResponse.Item {
    .zone(
      zone.zoneID, isAtomic: !zone.zoneID.isDefaultZone, syncToken: zone.changeToken,
      share: zone.isShared
        ? Reference(recordName: ShareContent.zoneShareName, zoneID: zone.zoneID) : nil)
  }
}
