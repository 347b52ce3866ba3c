import CloudKitModel

/// Reads records, and what callers may do with them.
public protocol RecordReading: Sendable {
  /// The records of these IDs, nil for those that do not exist, in the order asked for.
  func records(_ recordIDs: [RecordID], in database: DatabaseID) async throws -> [Record?]
  /// Throws ``ItemFailure`` for a filter that does not fit the type of its field or a zone that
  /// does not exist.
  func records(matching query: RecordQuery, in database: DatabaseID) async throws -> RecordPage
  /// What a user, or an anonymous caller, may do with records of these types, by the grants as they
  /// are now.
  func access(
    of userRecordName: String?, toTypes names: Set<String>, in database: DatabaseID
  ) async throws -> [String: RecordAccess]
}
