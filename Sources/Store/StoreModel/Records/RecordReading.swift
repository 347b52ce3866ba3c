import CloudKitModel

/// Reads of records and of callers' access to them.
public protocol RecordReading: Sendable {
  /// Returns the records with these IDs in the order of the IDs; nil for a record that does not
  /// exist. The caller of this method checks the access.
  func records(_ recordIDs: [RecordID], in database: DatabaseID) async throws -> [Record?]
  /// Returns one page of the records that a query finds.
  ///
  /// - Throws: ``ItemFailure`` for a filter that does not fit the type of its field, or for a zone
  ///   that does not exist. ``ItemFailure/Code/notReady`` if the index of a field is still being
  ///   built.
  func records(matching query: RecordQuery, in database: DatabaseID) async throws -> RecordPage
  /// Returns the access of a caller to records of these types by the current grants.
  func access(
    of caller: Caller, toTypes names: Set<String>, in database: DatabaseID
  ) async throws -> [String: RecordAccess]
}
