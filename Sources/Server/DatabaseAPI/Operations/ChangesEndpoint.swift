import CloudKitModel
import Foundation
import Storage
import StoreModel
import WebServices

/// The endpoint of `changes/database` and `changes/zone`, and of the older `zones/changes` and
/// `records/changes`.
///
/// A change feed is the list of changes in a database or a zone. Each operation returns a page of a
/// feed, with a change token. The client sends the token back to get the changes after that page;
/// only the server can read the token.
struct ChangesEndpoint: Sendable {
  let databases: DatabaseDirectory
  let links: AssetLinks

  var operations: [Operation] {
    let zoned = Operation.Place.database([.private, .shared])
    let publicZone =
      "the public database has one zone; ask changes/zone for what changed in '_defaultZone'"
    let feeds =
      """
      A zone that was made with zones/modify has a change feed. In Petrel, so has the default zone of the \
      public database. The default zone of a private database has no feed.
      """
    return [
      Operation(
        "changes/database", of: zoned, for: .everyone, .reads, currentZones,
        otherDatabases: publicZone,
        .init("Changes", "Which zones of a database changed", answer: "A page of zones.")),
      Operation(
        "changes/zone", of: .anyDatabase, for: .everyone, .reads, zones,
        .init(
          "Changes", "What changed in some zones", feeds,
          answer: "One item for each zone, in order.")),
      Operation(
        "zones/changes", of: zoned, for: .everyone, .reads, supersededZones,
        otherDatabases: publicZone,
        .init(
          "Changes", "Which zones changed", "Superseded by changes/database.",
          answer: "A page of zones.")),
      Operation(
        "records/changes", of: .anyDatabase, for: .everyone, .reads, records,
        .init(
          "Changes", "What changed in one zone", "Superseded by changes/zone. \(feeds)",
          answer: "A page of changes.")),
    ]
  }

  // MARK: Databases

  /// Answers `changes/database`: a page of the zones that changed since a token.
  private func currentZones(
    _ request: DatabaseChangesRequest<CurrentDatabaseChanges>, _ context: RequestContext
  ) async throws -> DatabaseChangesResponse<CurrentDatabaseChanges> {
    try await changedZones(request, context)
  }

  /// Answers `zones/changes`, whose answer is the same as that of `changes/database`, with other
  /// member names.
  private func supersededZones(
    _ request: DatabaseChangesRequest<SupersededDatabaseChanges>, _ context: RequestContext
  ) async throws -> DatabaseChangesResponse<SupersededDatabaseChanges> {
    try await changedZones(request, context)
  }

  /// Returns a page of the zones that changed or were deleted since the request's token, without
  /// the default zone.
  private func changedZones<Naming: DatabaseChangesNaming>(
    _ request: DatabaseChangesRequest<Naming>, _ context: RequestContext
  ) async throws -> DatabaseChangesResponse<Naming> {
    let contents = try await databases.contents(for: context)
    let page = try await contents.changeFeeds.zoneChanges(
      since: request.syncToken, limit: ServiceLimits.pageSize(askedFor: request.resultsLimit),
      in: contents.database, timestamp: context.now)
    return DatabaseChangesResponse(
      zones: page.changes.map { .success($0) }, syncToken: page.token, moreComing: page.hasMore)
  }

  // MARK: Zones

  /// Answers `changes/zone`: one page for each zone, in the order of the request.
  ///
  /// All pages together have about `ServiceLimits.changesPageSize` bytes. Zones beyond this size
  /// get an empty page with `moreComing`. A failed zone gets an error of its own, and the other
  /// zones get their pages.
  private func zones(
    _ request: ZoneChangesRequest, _ context: RequestContext
  ) async throws -> ZoneChangesResponse {
    let contents = try await databases.contents(for: context)
    var size = ServiceLimits.changesPageSize
    var answers: [Result<RecordChangesResponse, FailedItem>] = []
    for zone in request.zones {
      switch zone {
      case .success(let zone):
        answers.append(try await page(of: zone, in: contents, context, size: &size))
      case .failure(let failed):
        answers.append(.failure(failed))
      }
    }
    return ZoneChangesResponse(zones: context.reported(answers))
  }

  /// Answers `records/changes`: a page of one zone. If the zone fails, the whole request fails.
  private func records(
    _ request: RecordChangesRequest, _ context: RequestContext
  ) async throws -> RecordChangesResponse {
    let contents = try await databases.contents(for: context)
    var size = ServiceLimits.changesPageSize
    switch try await page(of: request, in: contents, context, size: &size) {
    case .success(let page): return page
    case .failure(let failed): throw failed.error
    }
  }

  /// Returns a page of one zone's changes.
  ///
  /// - Parameter size: the bytes that are left for this page and the pages after it. The method
  ///   subtracts the size of the page. If no bytes are left, the page is empty and has
  ///   `moreComing`.
  /// - Returns: the page, or the error of the zone: for an unknown or deleted zone, and for an
  ///   expired or unknown change token.
  /// - Throws: other errors, which fail the whole request.
  private func page(
    of request: RecordChangesRequest, in contents: DatabaseContents, _ context: RequestContext,
    size: inout Int
  ) async throws -> Result<RecordChangesResponse, FailedItem> {
    let query = RecordChangesQuery(
      zoneID: request.zoneID, token: request.syncToken,
      limit: size > 0 ? ServiceLimits.pageSize(askedFor: request.resultsLimit) : 0, sizeLimit: size,
      isReversed: request.isReversed, recordTypes: request.desiredRecordTypes,
      caller: context.caller, deviceID: context.deviceID)
    do {
      let database = contents.database
      let page = try await contents.changeFeeds.recordChanges(matching: query, in: database)
      size -= page.size
      var response = RecordChangesResponse(
        zoneID: request.zoneID, changes: try await links.linked(page.changes, in: database),
        syncToken: page.token,
        moreComing: page.hasMore,
        clientChangeTokenData: page.clientChangeToken.map { Data($0) })
      response.detail = RecordDetail(
        desiredKeys: request.desiredKeys, numbersAsStrings: request.numbersAsStrings)
      return .success(response)
    } catch let error as ItemFailure {
      return .failure(FailedItem(.zone(request.zoneID), ServiceError(error)))
    } catch let error as StoreError
      where [.badContinuation, .changeTokenExpired].contains(error.code)
    {
      return .failure(FailedItem(.zone(request.zoneID), ServiceError(error)))
    }
  }
}
