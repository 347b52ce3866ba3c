import CloudKitModel

/// The reads of records, and of the rights that callers have for records.
public protocol RecordReading: Sendable {
  /// Returns the records with these IDs in the order of the IDs; nil for a record that does not
  /// exist. The method checks no rights: its caller does.
  func records(_ recordIDs: [RecordID], in database: DatabaseID) async throws -> [Record?]
  /// Returns one page of the records that a query finds.
  ///
  /// - Throws: ``ItemFailure`` if a filter does not fit the type of its field, or if the zone does
  ///   not exist. The code is ``ItemFailure/Code/notReady`` if the index of a field is still being
  ///   built.
  func records(matching query: RecordQuery, in database: DatabaseID) async throws -> RecordPage
  /// Returns the rights of a caller for records of these types, by the names of the types. The
  /// present grants and roles decide.
  func access(
    of caller: Caller, toTypes names: Set<String>, in database: DatabaseID
  ) async throws -> [String: RecordAccess]
}
