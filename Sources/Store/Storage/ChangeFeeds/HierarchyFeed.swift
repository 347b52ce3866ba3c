import CloudKitModel
import StoreModel

/// One page of the change feed of another user's zone, for a participant of shared hierarchies.
///
/// The participant sees each hierarchy in the order of its changes (``HierarchyTable``). A record
/// that came into a hierarchy is a change at the version of its arrival, however old its content
/// is. A record that left (``DepartureTable``) is a deletion, unless the same page has it as a
/// change. The feed merges the hierarchies. The token has a position in each of them, so a share
/// that was accepted later is read from its beginning.
///
/// The newest changes never come first, also if the query asks for that: a participant whose part
/// in a share ends in the middle of such a feed would not learn what to delete.
///
/// If the participant's part in one of the shares has ended, the deletions of its records come
/// after all changes. Only then does the position show which of them the participant sees in
/// another share.
struct HierarchyFeed {
  /// The request, with the zone as the participant names it.
  let query: RecordChangesQuery
  let zone: SharedZone
  let transaction: StoreTransaction
  private let state: ZoneTable.State
  /// Nil means all types.
  private let typeNumbers: Set<Int64>?
  private var token: ChangeToken
  private var reader: ChangeToken.Reader
  private var changes: [RecordChange] = []
  private var size = 0
  private var deleted: Set<String> = []

  /// The most rows that one page examines, if it reports certain types only.
  private static let scanLimit = 5_000

  /// A record that is in a hierarchy, or that left it.
  struct Row {
    var place: ChangeToken.Place
    var typeNumber: Int64
    /// The name of a record that left; nil for a record in the hierarchy.
    var departedName: String?
  }

  /// The rows that a statement returns.
  struct Range {
    /// The place after which the rows begin.
    var low: ChangeToken.Place
    var limit: Int
  }

  /// Checks the query's change token.
  ///
  /// - Throws: ``StoreError/Code/changeTokenExpired`` for a token of another zone, store or user,
  ///   for one that is too old, and for one of shares that have all ended;
  ///   ``StoreError/Code/badContinuation`` for a database's token.
  init(
    _ query: RecordChangesQuery, of zone: SharedZone, at address: DatabaseAddress,
    transaction: StoreTransaction
  ) throws {
    var query = query
    query.isReversed = false
    self.query = query
    self.zone = zone
    self.transaction = transaction
    guard
      let state = try ZoneTable(transaction: transaction).state(
        of: ZoneID(zoneName: zone.zoneName), in: zone.database)
    else { throw ItemFailure.noZone(zone.zoneID) }
    self.state = state
    let present = zone.reader(at: state.version)
    var token = try RecordFeed.token(
      of: query, in: zone.database, zone: state, reader: present, transaction: transaction)
    var reader = token.reader ?? present
    token.reader = nil
    // A share that was accepted since is read from its beginning.
    let known = reader.parts.map(\.membership)
    reader.parts += present.parts.filter { !known.contains($0.membership) }
    self.token = token
    self.reader = reader
    typeNumbers = try query.recordTypes.map {
      try RecordTypeTable(transaction: transaction).numbers(ofTypesNamed: $0, at: address)
    }
  }

  /// The page ends at the query's limit of changes or bytes, or after ``scanLimit`` examined rows
  /// if the query names record types. It then may have no change although more follow.
  mutating func page() throws -> RecordChangesPage {
    let isComplete = try reportChanges() && reportEndedShares()
    token.reader = reader
    return RecordChangesPage(
      changes: changes,
      // The position is that of the zone, in which the reader does not see everything.
      token: try token.text(sealedBy: transaction.context.tokens, isRepeatable: false),
      hasMore: !isComplete, size: size,
      clientChangeToken: try ClientChangeTokenTable(transaction: transaction).token(
        of: zone.naming.participant, deviceID: query.deviceID, zone: zone.number,
        in: zone.database))
  }

  private var isFull: Bool {
    changes.count == query.limit || (!changes.isEmpty && size >= query.sizeLimit)
  }

  /// One row more than the page has changes.
  private var pieceSize: Int { typeNumbers == nil ? query.limit + 1 : Self.scanLimit }

  // MARK: Shares in which the reader takes part no longer

  /// Returns whether all of the deletions are reported.
  private mutating func reportEndedShares() throws -> Bool {
    for part in reader.parts where membership(of: part) == nil {
      guard let root = part.root else { continue }
      var range = Range(
        low: part.cursor ?? ChangeToken.Place(version: 0, number: 0), limit: pieceSize)
      // The end of a share makes all its records departures.
      let isShared =
        try ShareTable(transaction: transaction).share(part.share, in: zone.database) != nil
      let present =
        try isShared
        ? HierarchyTable(transaction: transaction).rows(
          below: root, inZone: zone.number, of: zone.database, range,
          arrivedThrough: part.position.version) : []
      range.low = max(range.low, part.position)
      let departed = try DepartureTable(transaction: transaction).rows(
        below: root, inZone: zone.number, of: zone.database, range,
        knownThrough: part.position.version)
      let rows = (present + departed).sorted { $0.place < $1.place }
      var cursor = part.cursor
      for row in rows.prefix(pieceSize) {
        if typeNumbers?.contains(row.typeNumber) ?? true {
          guard !isFull else { break }
          // All changes are reported, so the reader has what the participant sees.
          if try !isSeen(row) { try report(deletionOf: row) }
        }
        cursor = row.place
      }
      let isComplete = rows.count < pieceSize && cursor == rows.last?.place ?? cursor
      reader.parts = reader.parts.compactMap { other in
        guard other.membership == part.membership else { return other }
        var other = other
        other.cursor = cursor
        return isComplete ? nil : other
      }
      guard isComplete else { return false }
    }
    return true
  }

  // MARK: Changes

  /// Reports changes and moves the reader's position. Returns whether no changes follow.
  private mutating func reportChanges() throws -> Bool {
    let rows = try nextRows()
    var last: ChangeToken.Place?
    var isComplete = rows.count < pieceSize
    for (row, membership) in rows.prefix(pieceSize) {
      if typeNumbers?.contains(row.typeNumber) ?? true {
        guard !isFull else {
          isComplete = false
          break
        }
        try report(row, in: membership)
      }
      last = row.place
    }
    dropDeletionsOfSaved()
    move(to: isComplete ? ChangeToken.Place(version: state.version, number: .max) : last)
    return isComplete
  }

  private func nextRows() throws -> [(row: Row, membership: ZoneMembership)] {
    var rows: [(row: Row, membership: ZoneMembership)] = []
    for part in reader.parts {
      guard let membership = membership(of: part), let root = part.root else { continue }
      var range = Range(low: part.position, limit: pieceSize)
      rows += try HierarchyTable(transaction: transaction).rows(
        below: root, inZone: zone.number, of: zone.database, range
      ).map { ($0, membership) }
      range.low = max(range.low, ChangeToken.Place(version: part.base, number: .max))
      rows += try DepartureTable(transaction: transaction).rows(
        below: root, inZone: zone.number, of: zone.database, range,
        knownThrough: part.position.version
      ).map { ($0, membership) }
    }
    // A record that moved from one of the hierarchies to another has two rows with one place. A
    // page that ends between them would lose the second one.
    let arrivals = Set(rows.filter { $0.row.departedName == nil }.map(\.row.place))
    rows.removeAll { $0.row.departedName != nil && arrivals.contains($0.row.place) }
    rows.sort { $0.row.place < $1.row.place }
    return Array(rows.prefix(pieceSize))
  }

  /// Removes the deletions of records that the page has as changes. A client may apply the
  /// deletions of a page after its changes.
  ///
  /// A record that comes back on a later page is a deletion now: until then it may leave again.
  private mutating func dropDeletionsOfSaved() {
    if deleted.isEmpty { return }
    let saved = Set(
      changes.compactMap { change in
        if case .saved(let record) = change { record.recordID.recordName } else { nil }
      })
    deleted.subtract(saved)
    changes.removeAll { change in
      guard case .deleted(let recordID, _) = change else { return false }
      return saved.contains(recordID.recordName)
    }
  }

  private mutating func move(to place: ChangeToken.Place?) {
    guard let place else { return }
    token.position = max(token.position, place.version)
    for index in reader.parts.indices where membership(of: reader.parts[index]) != nil {
      reader.parts[index].position = max(reader.parts[index].position, place)
    }
  }

  /// Returns nil if the reader's part in the share has ended.
  private func membership(of part: ChangeToken.Part) -> ZoneMembership? {
    zone.memberships.first { $0.share == part.share && $0.joined == part.joined }
  }

  private mutating func report(_ row: Row, in membership: ZoneMembership) throws {
    guard row.departedName == nil else { return try report(deletionOf: row) }
    let stored = try RecordTable(transaction: transaction).record(
      numbered: row.place.number, in: zone.database)
    size += 128 + stored.contentSize
    changes.append(
      .saved(
        zone.naming.outward(zone.veiled(stored.record, number: stored.number, in: membership))))
  }

  /// Returns nil if the record was deleted since.
  private func name(of row: Row) throws -> String? {
    try row.departedName
      ?? RecordTable(transaction: transaction).name(of: row.place.number, in: zone.database)
  }

  private func isSeen(_ row: Row) throws -> Bool {
    guard let name = try name(of: row),
      let number = try RecordTable(transaction: transaction).number(
        of: name, inZone: zone.number, of: zone.database)
    else { return false }
    return try zone.membership(ofRecord: number) != nil
  }

  private mutating func report(deletionOf row: Row) throws {
    guard let name = try name(of: row), deleted.insert(name).inserted else { return }
    size += 128
    changes.append(
      .deleted(
        RecordID(recordName: name, zoneID: zone.zoneID),
        recordType: try RecordTypeTable(transaction: transaction).name(ofType: row.typeNumber)))
  }
}
