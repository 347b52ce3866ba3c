import CloudKitModel
import StoreModel

/// One page of a zone's change feed: the records that were saved or deleted since a change token.
///
/// A zone's version is a number that rises with each commit in the zone. Each record has the
/// version of its last save, and each tombstone that of the deletion. The feed merges both in the
/// order of their versions, so a record that changed several times appears once, at its last
/// change.
///
/// The initializer and ``page()`` run in one read transaction.
struct RecordFeed {
  let query: RecordChangesQuery
  let database: DatabaseID
  let transaction: StoreTransaction
  let address: DatabaseAddress
  /// Nil for the owner. The participant takes part in the share of the whole zone;
  /// ``HierarchyFeed`` reads hierarchies.
  let shared: SharedZone?
  private let zone: ZoneTable.State
  /// If the query is reversed, the token has a ``ChangeToken/Walk``, from the first page on.
  private let token: ChangeToken
  /// Nil means all types. A requested name that no record type has adds no number, so the set may
  /// be empty.
  private let typeNumbers: Set<Int64>?

  /// The most changes that one page examines, reported or not. Changes that the reader may not see
  /// do not count. A page for a rare type may end with `hasMore` true and without a change.
  private static let scanLimit = 5_000

  /// A change without the record's content, as the indexes by version have it.
  struct Candidate {
    /// The changed record or its tombstone.
    enum Subject {
      case record(number: Int64)
      case tombstone(recordName: String)
    }

    var version: Int64
    var typeNumber: Int64
    var subject: Subject
  }

  /// Has the errors of ``ChangeFeedService/recordChanges(matching:in:)``.
  init(
    _ query: RecordChangesQuery, in database: DatabaseID, at address: DatabaseAddress,
    shared: SharedZone? = nil, transaction: StoreTransaction
  ) throws {
    self.query = query
    self.shared = shared
    self.database = database
    self.transaction = transaction
    self.address = address
    guard !query.zoneID.isDefaultZone || address.scope == .public || query.caller.isAdministrator
    else {
      throw ItemFailure(
        .invalid, field: "zoneID",
        "the default zone has no change feed; save the records in a custom zone")
    }
    zone = try Self.state(
      of: query.zoneID, in: database, at: address, transaction: transaction)
    token = try Self.token(
      of: query, in: database, zone: zone, reader: shared?.reader(at: zone.version),
      transaction: transaction)
    typeNumbers = try query.recordTypes.map {
      try RecordTypeTable(transaction: transaction).numbers(ofTypesNamed: $0, at: address)
    }
  }

  /// The page ends at the query's limit of changes or bytes, or after ``scanLimit`` changes that
  /// the reader may see. Changes that the reader may not see affect neither the end of the page nor
  /// `hasMore`.
  ///
  /// - Complexity: O(*k* log *n*) for *k* examined rows, and *n* records and tombstones of the
  ///   zone. If the reader may see none of the changes, *k* is the number of all rows after the
  ///   position.
  func page() throws -> RecordChangesPage {
    var view = RecordFeedView(of: self)
    var changes: [RecordChange] = []
    var size = 0
    var last: Int64?
    var hasMore = false
    // The number of visible changes that may still be examined, reported or not.
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
      // The position may be that of a change that the reader may not see, so equal positions must
      // not have equal texts.
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
    of zoneID: ZoneID, in database: DatabaseID, at address: DatabaseAddress,
    transaction: StoreTransaction
  ) throws -> ZoneTable.State {
    if let state = try ZoneTable(transaction: transaction).state(of: zoneID, in: database) {
      return state
    }
    throw try ZoneTombstoneTable(transaction: transaction).missing(
      zoneID, in: database, at: address)
  }

  /// Returns the position from which the page continues.
  ///
  /// A token is valid if it has the zone's present number, and a version that is not above the
  /// zone's. Retention must not have deleted a tombstone with a version above the token's
  /// ``ChangeToken/knownDeletions``. If the token has a walk backwards, the query must be reversed
  /// too. A participant's token must be that of the participant, and at least one of its shares
  /// must not have ended.
  ///
  /// - Parameter reader: the participant who reads another user's zone, at its beginning; nil for
  ///   the owner.
  static func token(
    of query: RecordChangesQuery, in database: DatabaseID, zone: ZoneTable.State,
    reader: ChangeToken.Reader?, transaction: StoreTransaction
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
        token.belongs(to: database) && token.feed == .zone(zone.number)
        && token.knownDeletions >= zone.trimmedVersion && token.position <= zone.version
        && token.isUsable(by: reader, in: zone)
      guard isKnown else {
        throw StoreError(
          .changeTokenExpired,
          "the change token is not one of the present zone '\(query.zoneID)', or is older than the "
            + "deletions that the server keeps; start again without a token")
      }
      token.database = database
    } else {
      token = ChangeToken(
        beginningOf: .zone(zone.number), in: database, at: zone.version)
      token.reader = reader
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

  /// `last` is the version of the last examined row.
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

  /// After the change with the version `last`; nil begins at the token's position.
  private func candidates(limit: Int, beyond last: Int64?) throws -> [Candidate] {
    // The lowest and the highest requested version, exclusive.
    var low = token.position
    var high = token.walk?.below ?? zone.version + 1
    if let last {
      if query.isReversed { high = last } else { low = last }
    }
    let records = try RecordTable(transaction: transaction).candidates(
      inZone: zone.number, of: database, above: low, below: high,
      ascending: !query.isReversed, limit: limit)
    let tombstones = try TombstoneTable(transaction: transaction).candidates(
      inZone: zone.number, of: database, above: max(low, token.knownDeletions), below: high,
      ascending: !query.isReversed, limit: limit)
    if tombstones.isEmpty { return records }
    let merged = (records + tombstones).sorted {
      query.isReversed ? $0.version > $1.version : $0.version < $1.version
    }
    return Array(merged.prefix(limit))
  }

  /// Returns a change for the reader, and adds its approximate size in bytes to `size`.
  private func change(_ candidate: Candidate, size: inout Int) throws -> RecordChange {
    // The approximate size of a change without its content.
    size += 128
    switch candidate.subject {
    case .tombstone(let recordName):
      let recordID = RecordID(recordName: recordName, zoneID: query.zoneID)
      return .deleted(
        shared?.naming.outward(recordID) ?? recordID,
        recordType: try RecordTypeTable(transaction: transaction).name(ofType: candidate.typeNumber)
      )
    case .record(let number):
      let stored = try RecordTable(transaction: transaction).record(numbered: number, in: database)
      size += stored.contentSize
      return .saved(try shared?.seen(stored) ?? stored.record)
    }
  }
}
