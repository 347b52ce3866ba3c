import CloudKitModel
import SQLEngine
import StoreModel

/// One page of a zone's change feed.
///
/// A zone's version rises with each commit in it, and each saved record and each tombstone has the
/// version of its last change. The feed merges both in the order of their versions. So a record
/// that changed several times appears once, at its last change.
///
/// The initializer checks the zone and the token, and ``page()`` reads. Both run in one read
/// transaction.
struct RecordFeed {
  let query: RecordChangesQuery
  let database: DatabaseID
  let transaction: StoreTransaction
  let address: DatabaseAddress
  /// The zone's number and versions when the page is read.
  private let zone: ZoneTable.State
  /// The reader's position. For a walk backwards it has a ``ChangeToken/Walk`` from the first page
  /// on.
  private let token: ChangeToken
  /// The numbers of the types to report; nil means all.
  ///
  /// A name without a record type adds no number, so the set may be empty.
  private let typeNumbers: Set<Int64>?

  /// The most rows that one page examines when only some types are reported.
  ///
  /// The limit bounds the work for a reader who asks for a rare type. The page then ends with
  /// `hasMore`, perhaps with no change.
  private static let scanLimit = 5_000

  /// A change as the indexes by version have it, without the record's content.
  struct Candidate {
    /// The changed record or its tombstone.
    enum Subject {
      /// A record that was created or changed.
      case record(number: Int64)
      /// A record that was deleted.
      case tombstone(recordName: String)
    }

    var version: Int64
    /// The number of the record's type; see ``RecordTypeTable``.
    var typeNumber: Int64
    var subject: Subject
  }

  /// Checks the query against the zone and its token.
  ///
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/invalid`` for the default zone outside of
  ///   the public database, unless an administrator asks. ``ItemFailure/Code/zoneNotFound`` or
  ///   ``ItemFailure/Code/zoneDeleted`` if there is no such zone.
  ///   ``StoreError/Code/changeTokenExpired`` or ``StoreError/Code/badContinuation`` for a token
  ///   that does not fit.
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
        "the default zone has no change feed; save the records in a custom zone")
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

  /// Reads the page.
  ///
  /// The page ends at the query's limit of changes, at its limit of bytes, or after ``scanLimit``
  /// rows of types that the reader may see. Changes that the reader may not see affect neither the
  /// end of the page nor `hasMore`.
  ///
  /// - Complexity: O(*k* log *n*) for *k* examined rows and *n* records of the zone. If nothing is
  ///   visible, *k* is all rows after the position.
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

  /// The number and the versions of the zone.
  ///
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/zoneDeleted`` if the zone has a tombstone,
  ///   else with ``ItemFailure/Code/zoneNotFound``.
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

  /// The position from which the page continues.
  ///
  /// A token fits if it is of this zone's incarnation, is not from the future, and no deletion
  /// after it was trimmed. A token from the middle of a walk backwards fits only a query that is
  /// reversed as well.
  ///
  /// - Throws: ``StoreError/Code/changeTokenExpired`` for a token of another zone or incarnation,
  ///   or one that is too old. ``StoreError/Code/badContinuation`` for a database's token, or one
  ///   of the other direction.
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
          "the change token is one of the database; send a token of zone '\(query.zoneID)'")
      }
      let isKnown =
        token.database == database && token.feed == .zone(zone.number)
        && token.knownDeletions >= zone.trimmedVersion && token.position <= zone.version
      guard isKnown else {
        throw StoreError(
          .changeTokenExpired,
          "the change token is not one of the present zone '\(query.zoneID)', or is older than the "
            + "deletions that the server keeps; start again without a token")
      }
    } else {
      token = ChangeToken(
        beginningOf: .zone(zone.number), in: database, at: zone.version)
    }
    guard query.isReversed else {
      guard token.walk == nil else {
        throw StoreError(
          .badContinuation,
          "the change token is one of a feed in reverse order; continue in reverse order until no "
            + "more changes follow")
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
  /// - Parameters:
  ///   - last: the version of the last row examined; nil if there was none.
  ///   - hasMore: whether the page ended before the last change.
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
  ///
  /// Records are asked for from the token's position on, tombstones only from
  /// ``ChangeToken/knownDeletions`` on.
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

  /// The SQL keyword for the order of versions.
  private var order: String { query.isReversed ? "DESC" : "ASC" }

  /// The change for the reader, with the record's content.
  ///
  /// - Parameter size: raised by the change's approximate size in bytes.
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
