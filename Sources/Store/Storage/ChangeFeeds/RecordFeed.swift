import CloudKitModel
import SQLEngine
import StoreModel

/// One page of a zone's change feed.
struct RecordFeed {
  let query: RecordChangesQuery
  let database: DatabaseID
  let transaction: StoreTransaction
  let address: DatabaseAddress
  private let zone: ZoneTable.State
  private let token: ChangeToken
  /// The numbers of the types to report; nil means all.
  private let typeNumbers: Set<Int64>?

  /// The most rows that one page examines when only some types are reported.
  private static let scanLimit = 5_000

  /// The columns of a change in the indexes by version.
  struct Candidate {
    enum Subject {
      case record(number: Int64)
      case tombstone(recordName: String)
    }

    var version: Int64
    var typeNumber: Int64
    var subject: Subject
  }

  init(
    _ query: RecordChangesQuery, in database: DatabaseID, at address: DatabaseAddress,
    transaction: StoreTransaction
  ) throws {
    self.query = query
    self.database = database
    self.transaction = transaction
    self.address = address
    guard !query.zoneID.isDefaultZone || address.scope == .public || query.caller.isAdministrator
    else {
      throw ItemFailure(
        .invalid, field: "zoneID",
        "the default zone has no change feed; keep what you follow in a zone of your own")
    }
    zone = try Self.state(of: query.zoneID, in: database, transaction: transaction)
    token = try Self.token(of: query, in: database, zone: zone, transaction: transaction)
    typeNumbers = try query.recordTypes.map { names in
      Set(
        try names.compactMap {
          try RecordTypeTable(transaction: transaction).type(named: $0, at: address)?.number
        })
    }
  }

  /// Changes that the reader may not see affect neither the end of the page nor `hasMore`.
  func page() throws -> RecordChangesPage {
    var view = RecordFeedView(of: self)
    var changes: [RecordChange] = []
    var size = 0
    var last: Int64?
    var hasMore = false
    // The number of changes that may still be examined, reported or not.
    var patience = max(query.limit + 1, Self.scanLimit)
    var pieceSize = typeNumbers == nil ? query.limit + 1 : patience
    rows: while true {
      let candidates = try candidates(limit: pieceSize, beyond: last)
      for candidate in candidates {
        let isReported = typeNumbers?.contains(candidate.typeNumber) ?? true
        let isVisible =
          isReported ? try view.shows(candidate) : try view.showsAll(ofType: candidate.typeNumber)
        if isVisible {
          let isFull =
            changes.count == query.limit || (!changes.isEmpty && size >= query.sizeLimit)
          if patience == 0 || (isReported && isFull) {
            hasMore = true
            break rows
          }
          patience -= 1
          if isReported { changes.append(try change(candidate, size: &size)) }
        }
        last = candidate.version
      }
      if candidates.count < pieceSize { break }
      pieceSize = Self.scanLimit
    }
    return RecordChangesPage(
      changes: changes,
      // The position is that of the zone's last change, which the reader may not be allowed to see.
      token: try next(after: last, hasMore: hasMore).text(
        sealedBy: transaction.context.tokens, isRepeatable: view.showsEverything),
      hasMore: hasMore, size: size,
      clientChangeToken: try query.caller.userRecordName.flatMap {
        try ClientChangeTokenTable(transaction: transaction).token(
          of: $0, deviceID: query.deviceID, zone: zone.number, in: database)
      })
  }

  // MARK: Tokens

  private static func state(
    of zoneID: ZoneID, in database: DatabaseID, transaction: StoreTransaction
  ) throws -> ZoneTable.State {
    if let state = try ZoneTable(transaction: transaction).state(of: zoneID, in: database) {
      return state
    }
    let wasDeleted = try ZoneTombstoneTable(transaction: transaction).contains(zoneID, in: database)
    throw !wasDeleted
      ? ItemFailure(.zoneNotFound, field: "zoneID", "there is no zone '\(zoneID)'")
      : ItemFailure(.zoneDeleted, field: "zoneID", "zone '\(zoneID)' was deleted by its user")
  }

  private static func token(
    of query: RecordChangesQuery, in database: DatabaseID, zone: ZoneTable.State,
    transaction: StoreTransaction
  ) throws -> ChangeToken {
    var token: ChangeToken
    if let text = query.token {
      token = try ChangeToken(text, sealedBy: transaction.context.tokens)
      guard token.feed != .database else {
        throw StoreError(
          .badContinuation,
          "the change token is that of a database; zone '\(query.zoneID)' needs one of its own")
      }
      let isKnown =
        token.database == database && token.feed == .zone(zone.number)
        && token.knownDeletions >= zone.trimmedVersion && token.position <= zone.version
      guard isKnown else {
        throw StoreError(
          .changeTokenExpired,
          "the change token is not one of zone '\(query.zoneID)' as it is now, or from before "
            + "deletions that are forgotten; start again without a token")
      }
    } else {
      token = ChangeToken(
        beginningOf: .zone(zone.number), in: database, at: zone.version)
    }
    guard query.isReversed else {
      guard token.walk == nil else {
        throw StoreError(
          .badContinuation,
          "the change token is that of a feed in reverse order; go on in reverse until nothing is "
            + "left")
      }
      return token
    }
    if token.walk == nil {
      token.walk = ChangeToken.Walk(top: zone.version, below: zone.version + 1)
    }
    return token
  }

  /// The token of a reader who has this page.
  ///
  /// - Parameter last: the version of the last row examined.
  private func next(after last: Int64?, hasMore: Bool) -> ChangeToken {
    var next = token
    if let walk = token.walk {
      if hasMore {
        next.walk?.below = last ?? walk.below
      } else {
        next.walk = nil
        next.position = walk.top
      }
    } else {
      next.position = hasMore ? last ?? token.position : zone.version
    }
    return next
  }

  // MARK: Rows

  /// The next changes in the feed's order, at most `limit`, after the one with the version `last`.
  private func candidates(limit: Int, beyond last: Int64?) throws -> [Candidate] {
    // The lowest and the highest requested version, exclusive.
    var low = token.position
    var high = token.walk?.below ?? zone.version + 1
    if let last {
      if query.isReversed { high = last } else { low = last }
    }
    let records = try RecordTable(transaction: transaction).candidates(
      inZone: zone.number, of: database, above: low, below: high, order: order, limit: limit)
    let tombstones = try TombstoneTable(transaction: transaction).candidates(
      inZone: zone.number, of: database, above: max(low, token.knownDeletions), below: high,
      order: order, limit: limit)
    if tombstones.isEmpty { return records }
    let merged = (records + tombstones).sorted {
      query.isReversed ? $0.version > $1.version : $0.version < $1.version
    }
    return Array(merged.prefix(limit))
  }

  private var order: String { query.isReversed ? "DESC" : "ASC" }

  private func change(_ candidate: Candidate, size: inout Int) throws -> RecordChange {
    // The approximate size of a change without its content.
    size += 128
    switch candidate.subject {
    case .tombstone(let recordName):
      return .deleted(
        RecordID(recordName: recordName, zoneID: query.zoneID),
        recordType: try RecordTypeTable(transaction: transaction).name(ofType: candidate.typeNumber)
      )
    case .record(let number):
      let stored = try RecordTable(transaction: transaction).record(numbered: number, in: database)
      size += stored.contentSize
      return .saved(stored.record)
    }
  }
}
