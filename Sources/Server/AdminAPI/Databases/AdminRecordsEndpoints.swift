import CloudKitModel
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding
import PredicateLanguage
import Storage
import StoreModel
import WebServices

/// The endpoints `records/…` and `assets/upload` for records of any database.
///
/// The server treats these changes like the changes of clients: subscriptions fire, and subscribers
/// get notifications.
///
/// A query for 20 records, with the greatest count first:
///
///     POST records/query
///     { "container": "iCloud.com.example.app", "recordType": "Item",
///       "predicate": "count > 3", "sortBy": ["-count"], "limit": 20 }
///
/// The answers have the format of the web services protocol.
struct AdminRecordsEndpoints: AdminEndpoints {
  let records: RecordService
  let names: QueryNames
  let databases: AdminDatabases

  static let endpoints: [AdminHandler<Self>] = [
    .post(
      "records/query",
      AdminArgument.ofDatabase + [
        .recordType.needed, .predicate, .sortBy, .zoneName, .limit, .continuation,
      ], changes: false, "Records of a type that match a predicate",
      answers: RecordsResponse.schema(in: .answers), Self.query),
    .post(
      "records/lookup", AdminArgument.ofDatabase + [.records.needed, .zoneID], changes: false,
      "Records by their names", answers: RecordsResponse.schema(in: .answers)
    ) { group in
      { request in
        _ = try await group.databases.existing(request.arguments)
        return try await group.databases.answer(request, operation: "records/lookup")
      }
    },
    .post(
      "records/modify", AdminArgument.ofDatabase + [.operations.needed, .atomic],
      "Makes, changes and deletes records", answers: RecordsResponse.schema(in: .answers)
    ) { group in
      { try await group.databases.answer($0, operation: "records/modify") }
    },
    .post(
      "assets/upload", AdminArgument.ofDatabase + [.tokens.needed, .zoneID],
      "Returns the URLs to upload the bytes of assets to",
      answers: UploadAssetsResponse.schema(in: .answers)
    ) { group in
      { try await group.databases.answer($0, operation: "assets/upload") }
    },
  ]

  /// Returns the records of a type that fulfil a predicate; none if the database does not exist.
  ///
  /// - Throws: `BAD_REQUEST` for an invalid predicate or an invalid list of fields, and for a record
  ///   type or a field that the schema does not have.
  private func query(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    var query = Query(recordType: try arguments.required(.recordType))
    if let format = arguments.text(.predicate) {
      query.filters = try Self.filters(format, arguments, now: request.now)
    }
    query.sortKeys = Self.sortKeys(arguments)
    try query.validate()
    let address = try await databases.address(arguments)
    try await names.check(query, arguments)
    let context = try await databases.context(request, operation: "records/query", body: Data())
    let zoneID = arguments.text(.zoneName).map { ZoneID(zoneName: $0) }
    let database = try await databases.store.existingDatabase(at: address)
    let records = database == nil ? databases.store.vacancy(at: address).records : records
    let page = try await records.records(
      matching: RecordQuery(
        query: query, zoneID: zoneID, limit: arguments.limit,
        continuation: arguments.text(.continuation), caller: context.caller),
      in: database ?? .vacant)
    let response = RecordsResponse(
      records: page.records.map { .success(.record($0)) }, continuationMarker: page.continuation)
    return HTTPResponse(json: response.body(context: context.messageContext()))
  }

  /// Returns the filters for a predicate in the format of `NSPredicate`
  /// (`title == "Milk" AND count > 3`).
  ///
  /// - Parameter now: the value of `now()` in the predicate; nil if the predicate must not contain
  ///   `now()`.
  /// - Throws: `BAD_REQUEST` with the position of a syntax error, or with the part that a query
  ///   cannot express.
  static func filters(
    _ format: String, _ arguments: AdminArguments, now: Timestamp?
  ) throws(ServiceError) -> [Filter] {
    let node: PredicateNode
    do throws(PredicateFormatError) {
      node = try PredicateParser.parse(format)
    } catch {
      throw arguments.mistake(.predicate, "\(error)")
    }
    do throws(PredicateSearchError) {
      return try PredicateLowering(now: now).filters(for: node)
    } catch {
      throw arguments.mistake(.predicate, "\(error)")
    }
  }

  /// Returns the sort keys of the argument `sortBy`, in order. A name that begins with `-` sorts in
  /// descending order.
  private static func sortKeys(_ arguments: AdminArguments) -> [SortKey] {
    arguments.texts(.sortBy).map { name in
      let isDescending = name.hasPrefix("-")
      let field = isDescending ? String(name.dropFirst()) : name
      let key = SystemField(anyName: field).map { FieldKey.system($0) } ?? .field(field)
      return SortKey(key, ascending: !isDescending)
    }
  }
}
