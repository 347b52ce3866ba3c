import CloudKitModel
import StoreModel

/// One page of a database's change feed: the zones that were created, changed or deleted since a
/// change token (``ChangeToken``).
///
/// The feed merges zones and tombstones in the order of their versions. A zone that changed several
/// times appears once, at its last change. The feed does not contain the default zone.
struct ZoneFeed {
  let database: DatabaseID
  let transaction: StoreTransaction
  let limit: Int
  private let token: ChangeToken

  /// A changed or deleted zone.
  private struct Candidate {
    var version: Int64
    var change: ZoneChange
  }

  /// Has the errors of ``ChangeFeedService/zoneChanges(since:limit:in:timestamp:)``.
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
    var token = try ChangeToken(text, sealedBy: transaction.context.tokens)
    guard token.feed == .database else {
      throw StoreError(
        .badContinuation, "the change token is one of a zone; send a token of the database")
    }
    let isKnown =
      token.belongs(to: database) && token.knownDeletions >= state.trimmedVersion
      && token.position <= state.version
    guard isKnown else {
      throw StoreError(
        .changeTokenExpired,
        "the change token is not one of this database, or is older than the deletions that "
          + "the server keeps; start again without a token")
    }
    token.database = database
    self.token = token
  }

  /// The token gets the version of the last change; it stays the same if the page is empty.
  func page() throws -> ZoneChangesPage {
    let zones = try ZoneTable(transaction: transaction).changed(
      in: database, after: token.position, limit: limit + 1
    ).map { Candidate(version: $0.version, change: .changed($0.zoneID)) }
    let tombstones = try ZoneTombstoneTable(transaction: transaction).zones(
      deletedIn: database, after: token.knownDeletions, limit: limit + 1
    ).map { Candidate(version: $0.version, change: $0.change) }
    let merged = (zones + tombstones).sorted { $0.version < $1.version }
    let page = merged.prefix(limit)
    var next = token
    if let last = page.last { next.position = last.version }
    return ZoneChangesPage(
      changes: page.map(\.change), token: try next.text(sealedBy: transaction.context.tokens),
      hasMore: merged.count > page.count)
  }
}
