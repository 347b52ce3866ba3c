import CloudKitModel

/// A page of the records of a public database that a user created or last modified.
public struct StampedRecordPage: Sendable, Hashable {
  /// The most records that one call examines.
  public static let budget = 5_000

  /// The records, in the order of their creation; at most as many as the caller requested.
  public var records: [Record]
  /// The number to pass to the next call, which continues the search; nil at the end.
  public var next: Int64?

  /// Creates a page, by default the last one.
  package init(records: [Record], next: Int64? = nil) {
    self.records = records
    self.next = next
  }
}

/// The data of a user in a store, for an export that the user can request.
public protocol UserHoldingsStore: Sendable {
  /// Returns the data on a user's account. The data is empty for an unknown user.
  func holdings(of userRecordName: String, at timestamp: Timestamp) async throws -> UserHoldings
  /// Returns a page of the records of a public database that the user created or last modified, in
  /// the order of their creation. The rights of the user do not matter.
  ///
  /// - Parameters:
  ///   - number: ``StampedRecordPage/next`` of the previous page; 0 for the first page.
  ///   - limit: the most records returned.
  /// - Complexity: O(*n*) for all pages together, where *n* is the number of records in the
  ///   database. One call examines at most ``StampedRecordPage/budget`` records.
  func records(
    stampedBy userRecordName: String, in database: DatabaseID, after number: Int64, limit: Int
  ) async throws -> StampedRecordPage
}
