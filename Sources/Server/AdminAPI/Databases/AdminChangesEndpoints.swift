import CloudKitModel
import DatabaseAPI
import HTTPService
import Storage
import StoreModel
import WebServices

/// The endpoint `records/changes`, which returns all records of a zone in the order of their last
/// changes.
struct AdminChangesEndpoints: AdminEndpoints {
  /// The size limit of a page in bytes: a page ends with the change at which it contains 2 MiB of
  /// stored changes.
  private static let pageSize = 2 << 20

  let store: ChangeFeedService
  let names: QueryNames
  let databases: AdminDatabases
  let links: AssetLinks

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "records/changes",
      AdminArgument.ofDatabase + [.zone, .zoneOwner, .recordType, .syncToken, .limit],
      "Records and deletions of a zone, in the order of the last changes",
      answers: RecordChangesResponse.schema(in: .answers), Self.changes)
  ]

  /// In this answer, the owner of the database appears as `__defaultOwner__`, as in the store.
  /// Other answers contain the owner's user record name instead. A program can therefore save these
  /// records in another user's database without editing them.
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
    if let recordType = arguments.text(.recordType) {
      try await names.check(Query(recordType: recordType), arguments)
      query.recordTypes = [recordType]
    }
    let page = try await store.recordChanges(matching: query, in: database)
    let response = RecordChangesResponse(
      zoneID: zoneID, changes: try await links.linked(page.changes, in: database),
      syncToken: page.token, moreComing: page.hasMore)
    return HTTPResponse(json: response.body(context: MessageContext(ownerNaming: .explicit)))
  }
}
