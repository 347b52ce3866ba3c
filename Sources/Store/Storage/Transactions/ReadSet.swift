import CloudKitModel
import SQLEngine
import StoreModel

/// The data of a database that a write needs. On PostgreSQL the writer reads it for all jobs of a
/// transaction in one round trip.
struct ReadNeeds: Sendable {
  var database: DatabaseID
  var records: [RecordID] = []
  var request: AnsweredRequest?
  var dispatchedThrough: Int64?
  var recipients: Set<String> = []
  var timestamp = Timestamp(milliseconds: 0)
}

/// The data that a transaction reads in advance, besides the rows of its ``WriteSet``.
struct ReadSet {
  /// The dispatch position of a database, and the number of changes after it.
  struct Waiting {
    var position: DispatchPosition?
    /// The changes after the position, up to ``through``.
    var count: Int
    var through: Int64
  }

  var leases: [DatabaseID: [DispatchLease]] = [:]
  /// The first use takes a position away, since it moves then.
  var waiting: [DatabaseID: Waiting] = [:]
  var targets: [UserOfDatabase: [(DeviceToken, number: Int64?)]] = [:]

  /// Forgets tables that a statement changes.
  mutating func forget(_ tables: StatementGate.Tables) {
    func changes(_ table: WriteSet.Table) -> Bool { tables & table.bit != 0 }
    if changes(.dispatchLeases) { leases = [:] }
    if changes(.dispatches) || changes(.outbox) { waiting = [:] }
    if changes(.deviceTokens) { targets = [:] }
  }
}

/// The queries that begin a transaction on PostgreSQL.
struct BeginningQueries {
  private typealias Query = (query: RowQuery, note: (any SQLRow) throws -> Void)

  /// The records that are read at once. A job reads further ones by itself.
  private static let recordLimit = 4_096

  private let transaction: StoreTransaction
  private var all: [Query] = []

  /// The queries that take locks come first, so that the others read what earlier holders
  /// committed.
  init(of transaction: StoreTransaction, locking locks: WriteLocks, _ time: LockTime) {
    self.transaction = transaction
    if locks.reach >= .reference { add(RowQuery(CounterTable.sql.referenceLock)) { _ in } }
    if locks.reach == .everything {
      add(RowQuery(DatabaseTable.sql.lockAll)) { _ in }
    } else if !locks.databases.isEmpty, !transaction.context.isDistributed {
      let timeouts = transaction.context.idleTimeouts
      let timeout: Int64? =
        switch time {
        case .last: nil
        case .first: timeouts.locked
        case .firstAgain: timeouts.repeated
        }
      add(DatabaseTable.numbers(of: locks.databases, lockedFor: timeout)) { row in
        transaction.writes.databases.note(DatabaseTable.numbers(row), for: row.database(3))
      }
    }
  }

  private mutating func add(_ query: RowQuery, _ note: @escaping (any SQLRow) throws -> Void) {
    all.append((query, note))
  }

  mutating func addCatalogVersion(_ note: @escaping (Int64) -> Void) {
    add(RowQuery(CounterTable.sql.catalogVersion)) { note($0.integer(0)) }
  }

  /// Leaves out databases whose addresses are not cached.
  mutating func add(_ needs: [ReadNeeds]) {
    let known = needs.compactMap { need in
      transaction.catalog.addresses[need.database].map { (need, $0) }
    }
    addRecords(of: known)
    addRequests(needs.compactMap(\.request))
    addLeases(of: known)
    addPositions(of: known)
    addTargets(of: known)
  }

  func run() throws {
    try transaction.connection.beginWriting(with: all.map(\.query)) { index, row in
      try all[index].note(row)
    }
  }

  private mutating func addRecords(of needs: [(ReadNeeds, DatabaseAddress)]) {
    var wanted: [(database: DatabaseID, record: RecordID)] = []
    for (need, address) in needs
    where address.scope != .shared && wanted.count + need.records.count <= Self.recordLimit {
      for record in need.records {
        let zoneID = address.canonical(record.zoneID)
        let names = [record.recordName, zoneID.zoneName, zoneID.ownerName]
        // PostgreSQL has no text with U+0000. The job finds that there is no such record.
        if names.contains(where: { $0.utf8.contains(0) }) { continue }
        wanted.append((need.database, RecordID(recordName: record.recordName, zoneID: zoneID)))
      }
    }
    if wanted.isEmpty { return }
    var query = RecordTable.sql.wanted
    for (place, (database, record)) in wanted.enumerated() {
      query.rows.append(database.rawValue)
      query.rows.append(record.zoneID.zoneName)
      query.rows.append(record.zoneID.ownerName)
      query.rows.append(record.recordName)
      query.rows.append(Int64(place))
    }
    add(query) { [transaction] row in
      let (database, record) = wanted[Int(row.integer(0))]
      let zone = row.integer(1)
      let key = WriteSet.RecordKey(database: database, zone: zone, name: record.recordName)
      let place = WriteSet.ZonePlace(zoneID: record.zoneID, database: database)
      transaction.writes.zoneNumbers[place] = zone
      transaction.writes.records.note(
        row.isNull(2)
          ? nil
          : StoredRecord.Row(
            number: row.integer(2), zoneNumber: zone, recordName: record.recordName,
            typeNumber: row.integer(3), version: row.integer(4), content: row.bytes(5)), for: key)
      transaction.writes.tombstones.note(
        row.isNull(6)
          ? nil
          : WriteSet.Tombstone(
            typeNumber: row.integer(6), version: row.integer(7),
            deleted: row.time(8)), for: key)
    }
  }

  private mutating func addRequests(_ requests: [AnsweredRequest]) {
    // PostgreSQL has no text with U+0000.
    let requests = requests.filter { !$0.requestID.utf8.contains(0) }
    if requests.isEmpty { return }
    var query = AnsweredRequestTable.sql.attempts
    for (place, request) in requests.enumerated() {
      query.rows.append(request.database.rawValue)
      query.rows.append(request.requester)
      query.rows.append(request.requestID)
      query.rows.append(Int64(place))
    }
    add(query) { [transaction] row in
      transaction.writes.answeredRequests.note(
        row.isNull(1)
          ? nil
          : AnsweredRequestTable.Row(done: row.bytes(1), answered: row.time(2)),
        for: requests[Int(row.integer(0))])
    }
  }

  private mutating func addLeases(of needs: [(ReadNeeds, DatabaseAddress)]) {
    guard transaction.context.identity != nil else { return }
    let databases = Set(
      needs.lazy.filter { [transaction] need, _ in
        need.dispatchedThrough != nil
          || transaction.catalog.listeners[need.database].map { $0.isSubscribed || $0.hasShares }
            ?? false
      }.map(\.0.database))
    if databases.isEmpty { return }
    for database in databases { transaction.reads.leases[database] = [] }
    add(DispatchLeaseTable.leases(of: databases.sorted())) { [transaction] row in
      let lease = DispatchLease(row: row)
      transaction.reads.leases[lease.part.database, default: []].append(lease)
    }
  }

  private mutating func addPositions(of needs: [(ReadNeeds, DatabaseAddress)]) {
    var query = DispatchTable.sql.positions
    var through: [DatabaseID: Int64] = [:]
    for (need, _) in needs {
      guard let last = need.dispatchedThrough else { continue }
      // The first job of a database takes the position.
      if through[need.database] == nil { through[need.database] = last }
    }
    if through.isEmpty { return }
    for (database, last) in through {
      query.rows.append(database.rawValue)
      query.rows.append(last)
    }
    add(query) { [transaction] row in
      let database = row.database(0)
      transaction.reads.waiting[database] = ReadSet.Waiting(
        position: row.isNull(2) ? nil : DispatchPosition(row: row, from: 2),
        count: Int(row.integer(1)), through: through[database] ?? 0)
    }
  }

  private mutating func addTargets(of needs: [(ReadNeeds, DatabaseAddress)]) {
    var query = DeviceTable.sql.targetsOfSome
    var users: [UserOfDatabase] = []
    for (need, address) in needs {
      for name in need.recipients.sorted() {
        let user = UserOfDatabase(userRecordName: name, database: need.database)
        guard transaction.reads.targets.updateValue([], forKey: user) == nil else { continue }
        query.rows.append(name)
        query.rows.append(address.container)
        query.rows.append(address.environment.rawValue)
        query.rows.append(Int64(users.count))
        query.rows.append(need.timestamp.milliseconds)
        users.append(user)
      }
    }
    if users.isEmpty { return }
    add(query) { [transaction] row in
      transaction.reads.targets[
        users[Int(row.integer(DeviceToken.columnCount + 1))], default: []
      ].append((try DeviceToken(row: row), row.optionalInteger(DeviceToken.columnCount)))
    }
  }
}
