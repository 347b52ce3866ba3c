import CloudKitModel
import StoreModel

/// One page of a database's change feed: the zones that were created, changed or deleted since a
/// token.
///
/// Zones and tombstones of zones are merged in the order of their versions. A zone that changed
/// several times appears once, at its last change. The default zone is not reported.
struct ZoneFeed {
  let database: DatabaseID
  let transaction: StoreTransaction
  let limit: Int
  /// The reader's position.
  private let token: ChangeToken

  /// A zone that changed, or was deleted, with the version of that change.
  private struct Candidate {
    var version: Int64
    var change: ZoneChange
  }

  /// Reads the token and checks that it fits.
  ///
  /// - Parameters:
  ///   - text: the token; nil for a reader with nothing.
  ///   - limit: the most changes in the page, at least 1.
  /// - Throws: ``StoreError/Code/badContinuation`` for a zone's token.
  ///   ``StoreError/Code/changeTokenExpired`` for another database's token, or one from before
  ///   trimmed deletions.
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
        .badContinuation, "the change token is one of a zone; send a token of the database")
    }
    let isKnown =
      token.database == database && token.knownDeletions >= state.trimmedVersion
      && token.position <= state.version
    guard isKnown else {
      throw StoreError(
        .changeTokenExpired,
        "the change token is not one of this database, or is older than the deletions that "
          + "the server keeps; start again without a token")
    }
  }

  /// Reads the page. The token of the page stands at its last change, or stays where it was for an
  /// empty page.
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
