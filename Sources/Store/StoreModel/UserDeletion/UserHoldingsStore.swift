import CloudKitModel

/// A page of the records that a user has stamped in a public database.
public struct StampedRecordPage: Sendable, Hashable {
  /// Records that one call looks at.
  public static let budget = 5_000

  public var records: [Record]
  /// Behind which the search goes on; nil when it came to the end.
  public var next: Int64?

  package init(records: [Record], next: Int64? = nil) {
    self.records = records
    self.next = next
  }
}

/// What is the user's in a store, for whoever gives it to the user.
public protocol UserHoldingsStore: Sendable {
  func holdings(of userRecordName: String, at timestamp: Timestamp) async throws -> UserHoldings
  /// Records of a public database that the user created or modified last, in the order in which they were
  /// made, whatever the grants say.
  ///
  /// - Parameters:
  ///   - number: only those behind this place.
  ///   - limit: how many at most.
  /// - Complexity: O(records of the database), in pieces of ``StampedRecordPage/budget``.
  func records(
    stampedBy userRecordName: String, in database: DatabaseID, after number: Int64, limit: Int
  ) async throws -> StampedRecordPage
}
