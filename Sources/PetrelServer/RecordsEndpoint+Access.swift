import CloudKitModel
import Storage
import WebServices

/// Who may read records: `records/lookup` and `records/query` give nobody what he may not read.
extension RecordsEndpoint {
  /// Pages that one request looks through for records that the caller may read.
  private static let pageLimit = 32

  /// What the caller may do with the records of these types.
  ///
  /// Databases that are not public need no look: a request reaches its caller's own alone.
  func access(
    to types: Set<String>, in database: DatabaseID, _ context: RequestContext
  ) async throws -> [String: RecordAccess] {
    guard context.appliesGrants, try context.scope() == .public, !types.isEmpty else { return [:] }
    return try await store.access(
      of: context.caller.userRecordName, toTypes: types, in: database)
  }

  /// The failure of reading records of a type without permission.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` to an anonymous caller who may read them when signed in.
  func denial(
    ofReading what: String, type: String, in database: DatabaseID, _ context: RequestContext
  ) async throws -> ServiceError {
    if context.caller.userRecordName == nil {
      let schema = try await store.schema(
        of: context.path.container, in: context.path.environment)
      if (schema.recordTypes[type]?.grants ?? .standard).signedInMayGain(.read) {
        throw ServiceError.signInNeeded(for: "reading \(what)")
      }
    }
    return ServiceError(
      .accessDenied,
      "\(what) cannot be read: no role of this caller has READ for record type '\(type)'")
  }

  /// The records of a page that the caller may read.
  ///
  /// Where only creators may read, the search goes on until there is a record, for some pages: an
  /// answer may then have fewer records than were asked for, or none, and more to come.
  func readablePage(
    matching query: RecordQuery, in database: DatabaseID, _ context: RequestContext
  ) async throws -> RecordPage {
    let type = query.query.recordType
    let access =
      try await access(to: [type], in: database, context)[type] ?? .full
    guard access.reach != .none else {
      throw try await denial(
        ofReading: "records of type '\(type)'", type: type, in: database, context)
    }
    guard access.reach == .own else {
      return try await store.records(matching: query, in: database)
    }
    var query = query
    var found = RecordPage(records: [], continuation: query.continuation)
    for _ in 0..<Self.pageLimit {
      let page = try await store.records(matching: query, in: database)
      let readable = page.records.filter { access.mayRead($0) }
      // A page is given whole or not yet: the marker stands behind whole pages.
      if found.records.count + readable.count > query.limit { return found }
      found.records += readable
      found.continuation = page.continuation
      query.continuation = page.continuation
      if page.continuation == nil || found.records.count == query.limit { return found }
    }
    return found
  }
}
