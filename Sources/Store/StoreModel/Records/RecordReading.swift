import CloudKitModel

/// Reads records and callers' access to them.
public protocol RecordReading: Sendable {
  /// The records with these IDs in the order of the IDs; nil for a record that does not exist.
  func records(_ recordIDs: [RecordID], in database: DatabaseID) async throws -> [Record?]
  /// Throws ``ItemFailure`` for a filter that does not fit the type of its field, or for a zone
  /// that does not exist.
  func records(matching query: RecordQuery, in database: DatabaseID) async throws -> RecordPage
  /// The access of a caller to records of these types by the current
  /// grants.
  func access(
    of caller: Caller, toTypes names: Set<String>, in database: DatabaseID
  ) async throws -> [String: RecordAccess]
}
