import CloudKitModel
import StoreModel

/// One page of a database's change feed.
struct ZoneFeed {
  let database: DatabaseID
  let transaction: StoreTransaction
  let limit: Int
  private let token: ChangeToken

  private struct Candidate {
    var version: Int64
    var change: ZoneChange
  }

  init(
    since text: String?, limit: Int, in database: DatabaseID, transaction: StoreTransaction
  ) throws {
    self.database = database
    self.transaction = transaction
    self.limit = limit
    let state = try DatabaseTable(transaction: transaction).feedState(of: database)
    guard let text else {
      token = ChangeToken(beginningOf: .database, in: database, at: state.version)
      return
    }
    token = try ChangeToken(text, sealedBy: transaction.context.tokens)
    guard token.feed == .database else {
      throw StoreError(
        .badContinuation, "the change token is that of a zone; the database needs one of its own")
    }
    let isKnown =
      token.database == database && token.knownDeletions >= state.trimmedVersion
      && token.position <= state.version
    guard isKnown else {
      throw StoreError(
        .changeTokenExpired,
        "the change token is not one of this database, or from before deletions that are "
          + "forgotten; start again without a token")
    }
  }

  func page() throws -> ZoneChangesPage {
    let zones = try ZoneTable(transaction: transaction).changed(
      in: database, after: token.position, limit: limit + 1
    ).map { Candidate(version: $0.version, change: .changed($0.zoneID)) }
    let tombstones = try ZoneTombstoneTable(transaction: transaction).zones(
      deletedIn: database, after: token.knownDeletions, limit: limit + 1
    ).map { Candidate(version: $0.version, change: .deleted($0.zoneID)) }
    let merged = (zones + tombstones).sorted { $0.version < $1.version }
    let page = merged.prefix(limit)
    var next = token
    if let last = page.last { next.position = last.version }
    return ZoneChangesPage(
      changes: page.map(\.change), token: try next.text(sealedBy: transaction.context.tokens),
      hasMore: merged.count > page.count)
  }
}
