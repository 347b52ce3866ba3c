import CloudKitModel
import StoreModel
import WebServices

/// Who may read records: `records/lookup` and `records/query` give nobody what he may not read.
extension RecordsEndpoint {
  /// The caller's access to the records of these types; none for those to which it is unlimited.
  func access(
    to types: Set<String>, in database: DatabaseID, _ context: RequestContext
  ) async throws -> [String: RecordAccess] {
    guard AccessPolicy.access(of: context.caller, in: try context.scope()) == nil, !types.isEmpty
    else { return [:] }
    return try await records.access(of: context.caller, toTypes: types, in: database)
  }

  /// The records that a query finds, of those that the caller may read.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` to an anonymous caller who may read none of the type and some
  ///   when signed in; `ACCESS_DENIED` to others who may read none.
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

  /// The failure of reading a record without permission.
  ///
  /// It tells that the name is taken, which saving a record of that name tells as well, and nothing of
  /// the record that has it: not its type, nor what the grants of that type are.
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
