import CloudKitModel
import StoreModel
import WebServices

/// The access of callers to records: `records/lookup` and `records/query` return only records that
/// the caller may read.
extension RecordsEndpoint {
  /// Returns the caller's access to the records of these types, by type. It is empty if the scope
  /// of the database alone decides, as in a private database.
  func access(
    to types: Set<String>, in database: DatabaseID, _ context: RequestContext
  ) async throws -> [String: RecordAccess] {
    guard AccessPolicy.access(of: context.caller, in: try context.scope()) == nil, !types.isEmpty
    else { return [:] }
    return try await records.access(of: context.caller, toTypes: types, in: database)
  }

  /// Returns a page of the records that match the query and that the caller may read.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` if the caller is anonymous, may read no record of the
  ///   type, and may read some after signing in. `ACCESS_DENIED` if a caller may read no record of
  ///   the type.
  func page(
    matching query: RecordQuery, in database: DatabaseID, _ context: RequestContext
  ) async throws -> RecordPage {
    do {
      return try await records.records(matching: query, in: database)
    } catch let failure as ItemFailure where failure.code == .accessDenied {
      guard context.caller.userRecordName == nil else { throw failure }
      let type = query.query.recordType
      let schema = try await schemas.schema(
        of: context.path.container, in: context.path.environment)
      guard (schema.recordTypes[type]?.grants ?? .standard).signedInMayGain(.read) else {
        throw failure
      }
      throw ServiceError.signInNeeded(for: "reading records of type '\(type)'")
    }
  }

  /// Returns the error for reading a record without permission.
  ///
  /// The error shows that a record of this name exists; so does saving a record of that name. It
  /// shows nothing else: neither the type of the record nor the grants of the type.
  func denial(
    ofReading recordID: RecordID, _ refusal: AccessRefusal, _ context: RequestContext
  ) throws -> ServiceError {
    let what = "record '\(recordID)'"
    guard context.caller.userRecordName != nil else {
      throw ServiceError.signInNeeded(for: "reading \(what)")
    }
    return ServiceError(.accessDenied, "\(what) cannot be read: \(refusal.reason())")
  }
}
