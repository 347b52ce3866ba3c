import CloudKitModel
import Storage
import StoreModel
import WebServices

/// The access of callers to records: `records/lookup` and `records/query` return only records that
/// the caller may read.
extension RecordsEndpoint {
  /// Returns the caller's access to the records of these types, by type. The result is empty if the
  /// scope of the database alone decides, as in a private database, or if `types` is empty.
  func access(
    to types: Set<String>, in contents: DatabaseContents, _ context: RequestContext
  ) async throws -> [String: RecordAccess] {
    guard AccessPolicy.access(of: context.caller, in: try context.scope()) == nil, !types.isEmpty
    else { return [:] }
    return try await contents.records.access(
      of: context.caller, toTypes: types, in: contents.database)
  }

  /// Returns a page of the records that match the query and that the caller may read.
  ///
  /// - Throws: `ACCESS_DENIED` if the caller may read no record of the type.
  ///   `AUTHENTICATION_REQUIRED` in its place if the caller is anonymous, and a signed-in user may
  ///   read some records of the type. `NOT_FOUND` if the schema does not have the type; in
  ///   development, with the type that was perhaps meant.
  func page(
    matching query: RecordQuery, in contents: DatabaseContents, _ context: RequestContext
  ) async throws -> RecordPage {
    do {
      return try await contents.records.records(matching: query, in: contents.database)
    } catch let failure as ItemFailure
      where failure.field == "recordType" && failure.code == .notFound
    {
      let near = try await unknownNames(in: query.query, context).first?.near
      throw ItemFailure(
        .notFound, field: failure.field,
        failure.reason + (near.map { "; did you mean '\($0)'?" } ?? ""))
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

  /// Returns the names in a query that the schema does not have, for an answer to the app's
  /// developer; none in production, whose callers are others.
  func unknownNames(
    in query: Query, _ context: RequestContext
  ) async throws -> [UnknownName] {
    guard context.path.environment == .development else { return [] }
    return try await schemas.schema(
      of: context.path.container, in: context.path.environment
    ).unknownNames(in: query)
  }

  /// Returns the error for reading a record without permission.
  ///
  /// The error shows that a record of this name exists, as an attempt to save such a record does
  /// too. The error shows neither the type of the record nor the permissions for the type.
  ///
  /// - Returns: `AUTHENTICATION_REQUIRED` for an anonymous caller; otherwise `ACCESS_DENIED`.
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
