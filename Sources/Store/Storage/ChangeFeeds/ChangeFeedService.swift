import CloudKitModel
import StoreModel

/// The changes of a database and of its zones since a token.
struct ChangeFeedService: ChangeFeedStore {
  let transactions: Transactions

  func recordChanges(
    matching query: RecordChangesQuery, in database: DatabaseID
  ) async throws -> RecordChangesPage {
    try await transactions.read { transaction in
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      var query = query
      query.zoneID = address.canonical(query.zoneID)
      query.limit = min(max(0, query.limit), ServiceLimits.recordsPerPage)
      return try RecordFeed(query, in: database, at: address, transaction: transaction).page()
    }
  }

  func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID
  ) async throws -> ZoneChangesPage {
    let limit = min(max(1, limit), ServiceLimits.recordsPerPage)
    return try await transactions.read { transaction in
      try ZoneFeed(since: token, limit: limit, in: database, transaction: transaction).page()
    }
  }
}
