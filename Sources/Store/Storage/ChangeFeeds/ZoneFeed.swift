import CloudKitModel
import StoreModel

/// One page of a database's change feed.
struct ZoneFeed {
  let database: DatabaseID
  let session: StoreSession
  let limit: Int
  private let token: ChangeToken

  private struct Candidate {
    var version: Int64
    var change: ZoneChange
  }

  init(
    since text: String?, limit: Int, in database: DatabaseID, session: StoreSession
  ) throws {
    self.database = database
    self.session = session
    self.limit = limit
    let state = try session.connection.first(
      "SELECT last_number, trimmed_version FROM databases WHERE database_id = $1",
      [.integer(database.rawValue)]
    ) { (version: $0.integer(0), trimmedVersion: $0.integer(1)) }
    guard let state else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    guard let text else {
      token = ChangeToken(beginningOf: .database, in: database, at: state.version)
      return
    }
    token = try ChangeToken(text, sealedBy: session.tokens)
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
    // A database has few zones, so they have no index by version.
    let zones = try candidates(
      """
      SELECT zone_name, owner_name, version FROM zones
      WHERE database_id = $1 AND version > $2 AND zone_name <> '_defaultZone'
      ORDER BY version LIMIT $3
      """, after: token.position, ZoneChange.changed)
    let tombstones = try candidates(
      """
      SELECT zone_name, owner_name, version FROM zone_tombstones
      WHERE database_id = $1 AND version > $2 ORDER BY version LIMIT $3
      """, after: token.knownDeletions, ZoneChange.deleted)
    let merged = (zones + tombstones).sorted { $0.version < $1.version }
    let page = merged.prefix(limit)
    var next = token
    if let last = page.last { next.position = last.version }
    return ZoneChangesPage(
      changes: page.map(\.change), token: try next.text(sealedBy: session.tokens),
      hasMore: merged.count > page.count)
  }

  private func candidates(
    _ statement: String, after version: Int64, _ change: (ZoneID) -> ZoneChange
  ) throws -> [Candidate] {
    try session.connection.rows(
      statement,
      [.integer(database.rawValue), .integer(version), .integer(Int64(limit) + 1)]
    ) {
      Candidate(
        version: $0.integer(2),
        change: change(ZoneID(zoneName: $0.text(0), ownerName: $0.text(1))))
    }
  }
}
