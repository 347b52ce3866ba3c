import CloudKitModel
import DatabaseAPI
import HTTPService
import StoreModel
import WebServices

/// Everything that a zone holds, in the order of its changes.
struct AdminChangesEndpoints: AdminEndpoints {
  /// Bytes of stored changes after which a page ends.
  private static let pageSize = 2 << 20

  let store: any ChangeFeedStore
  let databases: AdminDatabases
  let links: AssetLinks

  var endpoints: [AdminEndpoint] {
    [
      .get(
        "records/changes",
        AdminDatabases.arguments + [.zone, .zoneOwner, .recordType, .syncToken, .limit],
        "All that a zone holds, in the order of its last changes",
        answers: RecordChangesResponse.schema(in: .answers), changes)
    ]
  }

  /// Unlike other answers it does not name the database's own owner, so that what it tells can be
  /// saved in another database as it is.
  private func changes(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (database, _) = try await databases.existing(arguments)
    let zoneID = ZoneID(
      zoneName: arguments.text(.zone) ?? ZoneID.defaultZoneName,
      ownerName: arguments.text(.zoneOwner) ?? ZoneID.currentOwnerName)
    var query = RecordChangesQuery(
      zoneID: zoneID, token: arguments.text(.syncToken), limit: arguments.limit,
      sizeLimit: Self.pageSize,
      caller: .administrator(userRecordName: request.identity.userRecordName))
    query.recordTypes = arguments.text(.recordType).map { [$0] }
    let page = try await store.recordChanges(matching: query, in: database)
    let response = RecordChangesResponse(
      zoneID: zoneID, changes: try await links.linked(page.changes, in: database),
      syncToken: page.token, moreComing: page.hasMore)
    return HTTPResponse(json: response.body(context: MessageContext(ownerNaming: .explicit)))
  }
}
