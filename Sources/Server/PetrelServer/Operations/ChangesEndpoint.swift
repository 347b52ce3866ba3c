import CloudKitModel
import Foundation
import StoreModel
import WebServices

/// `changes/database`, `changes/zone`, and what they superseded: `zones/changes` and
/// `records/changes`.
struct ChangesEndpoint: Sendable {
  let store: any ChangeFeedStore
  let databases: DatabaseDirectory
  let links: AssetLinks

  // MARK: Databases

  func database(_ context: RequestContext) async throws -> Data {
    try await zones(context, as: .current)
  }

  func zones(_ context: RequestContext) async throws -> Data {
    try await zones(context, as: .superseded)
  }

  private func zones(
    _ context: RequestContext, as form: DatabaseChangesForm
  ) async throws -> Data {
    guard try context.scope() != .public else {
      throw ServiceError(
        .badDatabase,
        "the public database has one zone; ask changes/zone for what changed in '_defaultZone'")
    }
    let address = try context.address()
    let request = try DatabaseChangesRequest(
      parsing: context.body, as: form, context: context.messageContext())
    let page = try await store.zoneChanges(
      since: request.syncToken, limit: ServiceLimits.pageSize(askedFor: request.resultsLimit),
      in: try await databases.database(at: address))
    return DatabaseChangesResponse(
      zones: page.changes.map { .success($0) }, syncToken: page.token, moreComing: page.hasMore
    ).body(as: form, context: context.messageContext())
  }

  // MARK: Zones

  func zone(_ context: RequestContext) async throws -> Data {
    let address = try context.address()
    let request = try ZoneChangesRequest(
      parsing: context.body, context: context.messageContext())
    let database = try await databases.database(at: address)
    var size = ServiceLimits.changesPageSize
    var answers: [Result<RecordChangesResponse, FailedItem>] = []
    for zone in request.zones {
      switch zone {
      case .success(let zone):
        answers.append(try await page(of: zone, in: database, context, size: &size))
      case .failure(let failed):
        answers.append(.failure(failed))
      }
    }
    return ZoneChangesResponse(zones: context.reported(answers)).body(
      context: context.messageContext(), for: request)
  }

  func records(_ context: RequestContext) async throws -> Data {
    let address = try context.address()
    let request = try RecordChangesRequest(
      parsing: context.body, context: context.messageContext())
    let database = try await databases.database(at: address)
    var size = ServiceLimits.changesPageSize
    switch try await page(of: request, in: database, context, size: &size) {
    case .success(let page):
      return page.body(context: context.messageContext(), for: request)
    case .failure(let failed):
      throw failed.error
    }
  }

  /// - Parameter size: bytes that are left for this page and those behind it.
  private func page(
    of request: RecordChangesRequest, in database: DatabaseID, _ context: RequestContext,
    size: inout Int
  ) async throws -> Result<RecordChangesResponse, FailedItem> {
    let query = RecordChangesQuery(
      zoneID: request.zoneID, token: request.syncToken,
      limit: size > 0 ? ServiceLimits.pageSize(askedFor: request.resultsLimit) : 0, sizeLimit: size,
      isReversed: request.isReversed, recordTypes: request.desiredRecordTypes,
      reader: context.caller.userRecordName.map {
        ChangeOrigin(userRecordName: $0, deviceID: context.deviceID)
      })
    do {
      let page = try await store.recordChanges(matching: query, in: database)
      size -= page.size
      return .success(
        RecordChangesResponse(
          zoneID: request.zoneID, changes: try await links.linked(page.changes, in: database),
          syncToken: page.token,
          moreComing: page.hasMore,
          clientChangeTokenData: page.clientChangeToken.map { Data($0) }))
    } catch let error as ItemFailure {
      return .failure(FailedItem(.zone(request.zoneID), ServiceError(error)))
    } catch let error as StoreError
      where [.badContinuation, .changeTokenExpired].contains(error.code)
    {
      return .failure(FailedItem(.zone(request.zoneID), ServiceError(error)))
    }
  }
}
