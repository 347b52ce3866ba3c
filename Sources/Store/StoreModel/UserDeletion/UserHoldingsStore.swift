import CloudKitModel

/// A page of the records that a user has stamped in a public database.
public struct StampedRecordPage: Sendable, Hashable {
  /// The most records that one call examines.
  public static let budget = 5_000

  /// The records, at most as many as the caller wanted.
  public var records: [Record]
  /// The number after which the search continues; nil at the end.
  public var next: Int64?

  /// Creates a page, by default the last one.
  package init(records: [Record], next: Int64? = nil) {
    self.records = records
    self.next = next
  }
}

/// A user's data in a store, for export to the user.
public protocol UserHoldingsStore: Sendable {
  /// Returns the data on a user's account. For an unknown user it is empty.
  func holdings(of userRecordName: String, at timestamp: Timestamp) async throws -> UserHoldings
  /// Returns records of a public database that the user created or last modified, in the order of
  /// creation, regardless of grants.
  ///
  /// - Parameters:
  ///   - number: only records after this number.
  ///   - limit: the most records returned.
  /// - Complexity: O(*n*) for all pages together, where *n* is the number of records in the
  ///   database. One call examines at most ``StampedRecordPage/budget`` records.
  func records(
    stampedBy userRecordName: String, in database: DatabaseID, after number: Int64, limit: Int
  ) async throws -> StampedRecordPage
}
