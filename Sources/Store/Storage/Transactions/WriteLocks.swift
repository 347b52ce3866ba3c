import CloudKitModel
import SQLEngine
import StoreModel

/// The locks that a write holds until its commit, on a shared store (a store that several processes
/// write to).
///
/// The writer takes the locks before the write begins, always in the same order: the reference
/// lock, the databases by number, users' devices by kind and token. All data of a database
/// (numbers, records, zones, subscriptions, outbox, log) is read and changed under its lock. A
/// write that needs further locks throws ``LocksNeeded``.
///
/// A store in a file has one writer and needs no locks. Within a process, ``WriteSchedule`` uses
/// the values to decide which jobs may run at the same time.
struct WriteLocks: Hashable, Sendable {
  /// Each case includes the locks of the cases before it.
  enum Reach: Int, Comparable, Sendable {
    /// The engine locks the rows that each statement changes.
    case rows
    /// Data outside of databases: users, devices, sessions, keys, schemas, counters.
    case reference
    /// The reference lock and the locks of all databases. No save is under way, so the schema can
    /// change.
    case everything

    static func < (one: Reach, other: Reach) -> Bool { one.rawValue < other.rawValue }
  }

  private(set) var reach: Reach
  /// The databases, sorted by number, each once.
  private(set) var databases: [DatabaseID]
  /// The users whose badges (the numbers on an app's icon) the write counts, and whose devices it
  /// locks.
  private(set) var badgeOwners: Set<String>
  /// Whether the write stores outcomes of deliveries. Within a process such writes run one after
  /// the other; between processes the engine locks the rows.
  private(set) var settlesDeliveries: Bool

  private init(
    _ reach: Reach, databases: [DatabaseID] = [], badgeOwners: Set<String> = [],
    settlesDeliveries: Bool = false
  ) {
    self.reach = reach
    self.databases = databases
    self.badgeOwners = badgeOwners
    self.settlesDeliveries = settlesDeliveries
  }

  /// The engine locks the rows that each statement changes.
  static let rows = WriteLocks(.rows)
  static let reference = WriteLocks(.reference)
  /// While such a write runs, no other has the lock of a database or the reference lock.
  static let everything = WriteLocks(.everything)
  static let deliveries = WriteLocks(.rows, settlesDeliveries: true)

  static func database(_ database: DatabaseID) -> WriteLocks {
    WriteLocks(.rows, databases: [database])
  }

  /// A distributed store permits only one database in a transaction.
  static func databases(_ databases: some Sequence<DatabaseID>) -> WriteLocks {
    WriteLocks(.rows, databases: Set(databases).sorted())
  }

  static func badges(of users: Set<String>) -> WriteLocks {
    WriteLocks(.rows, badgeOwners: users)
  }

  func union(_ other: WriteLocks) -> WriteLocks {
    var union = self
    union.formUnion(other)
    return union
  }

  mutating func formUnion(_ other: WriteLocks) {
    reach = max(reach, other.reach)
    settlesDeliveries = settlesDeliveries || other.settlesDeliveries
    if !other.badgeOwners.isEmpty { badgeOwners.formUnion(other.badgeOwners) }
    guard databases != other.databases, !other.databases.isEmpty else { return }
    databases = databases.isEmpty ? other.databases : Set(databases + other.databases).sorted()
  }

  /// Removes all databases if `needed` names one, so that a transaction of a distributed store can
  /// be repeated with it alone.
  mutating func leaveDatabases(for needed: WriteLocks) {
    if !needed.databases.isEmpty { databases = [] }
  }

  /// Does not compare badges and deliveries.
  func cover(_ other: WriteLocks) -> Bool {
    if reach == .everything { return true }
    return reach >= other.reach && other.databases.allSatisfy(hasDatabase)
  }

  func covers(_ database: DatabaseID) -> Bool {
    reach == .everything || hasDatabase(database)
  }

  private func hasDatabase(_ database: DatabaseID) -> Bool {
    if databases.count < 8 { return databases.contains(database) }
    var (low, high) = (0, databases.count)
    while low < high {
      let middle = (low + high) / 2
      if databases[middle] < database { low = middle + 1 } else { high = middle }
    }
    return low < databases.count && databases[low] == database
  }
}

extension WriteLocks {
  static func dispatch(of changes: [PreparedChange]) -> WriteLocks {
    var locks = WriteLocks.databases(changes.map(\.entry.database))
    for change in changes {
      for element in change.notifications.elements where element.raisesBadge {
        locks.badgeOwners.insert(element.subscriber)
      }
    }
    return locks
  }
}

/// The time at which a transaction locks its databases.
enum LockTime {
  /// Before the first statement after the reading (``StoreTransaction/lockUnchanged()``), mostly in
  /// the round trip of the commit. All that the jobs know until then was read at the beginning.
  case last
  /// Before it reads. PostgreSQL soon ends the transaction if the server stands still.
  case first
  /// As ``first``, after PostgreSQL has ended the transaction. It gets more time.
  case firstAgain
}

extension StoreTransaction {
  /// Begins the engine's transaction, and reads what its jobs need.
  /// On PostgreSQL one round trip begins the transaction, takes the reference lock and those of
  /// databases, and reads the catalog version and the jobs' needs. So the transaction reads
  /// everything that earlier holders of the locks committed. The locks of badges need another
  /// round trip.
  func begin(reading needs: [ReadNeeds], locking time: LockTime) throws {
    guard let locks else {
      try connection.beginWriting()
      return try CounterTable(transaction: self).followSchema()
    }
    var version: Int64?
    var queries = BeginningQueries(of: self, locking: locks, time)
    if !context.isDistributed {
      queries.addCatalogVersion { version = $0 }
      queries.add(needs)
    }
    try queries.run()
    // A distributed store finds the node of a row by an argument, and does not read in advance.
    if context.isDistributed, locks.reach != .everything {
      for database in locks.databases { try DatabaseTable(transaction: self).lock(database) }
    }
    if !locks.badgeOwners.isEmpty {
      try DeviceTable.lockBadges(of: locks.badgeOwners, over: connection)
    }
    try CounterTable(transaction: self).followSchema(foundAs: version)
    if time == .last { gate.beforeStatement = { [unowned self] in try lockUnchanged() } }
  }

  /// A commit raises a database's number or subscription version if it changes what the
  /// transaction read: records, zones, tombstones, who listens. If it did, a later statement, at
  /// the latest the commit, throws.
  ///
  /// - Throws: ``StoreError/Code/serializationFailure``. The writer then repeats the transaction,
  ///   and locks first.
  private func lockUnchanged() throws {
    var query = DatabaseTable.sql.lockUnchanged
    for database in locks?.databases ?? [] {
      guard let read = writes.databases[database]?.stored else { continue }
      query.rows.append(database.rawValue)
      query.rows.append(read.last)
      query.rows.append(read.subscriptionVersion)
    }
    try connection.runLater(query)
    try connection.runLater(CounterTable.sql.unchangedCatalog, [SQLValue(catalog.version)])
  }
}

/// A write needs more locks than it requested. The writer repeats the transaction with these, too.
struct LocksNeeded: Error {
  var locks: WriteLocks
}

extension StoreTransaction {
  /// Succeeds on a store that is not shared. Must come before the first statement whose result
  /// depends on the protected rows.
  ///
  /// - Throws: ``LocksNeeded``.
  func require(_ locks: WriteLocks) throws {
    guard let held = self.locks, !held.cover(locks) else { return }
    throw LocksNeeded(locks: locks)
  }

  /// No statement is needed, since no other transaction can see the new database yet.
  func hold(made database: DatabaseID) {
    locks?.formUnion(.database(database))
  }

  /// A write must have the lock of a database before it draws numbers. The lock cannot be added
  /// later, because it decides the order of this write among the process's writes to the database.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` otherwise, which is a mistake in the program.
  func checkLock(of database: DatabaseID) throws {
    guard let locks, !locks.covers(database) else { return }
    throw StoreError(
      .statementFailed, "a write to database \(database.rawValue) has not locked the database")
  }
}
