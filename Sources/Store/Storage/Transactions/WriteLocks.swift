import CloudKitModel
import SQLEngine
import StoreModel

/// The locks that a write holds until its commit, on a shared store (a store that several processes
/// write to).
///
/// The writer takes these locks before the write begins, always in the same order: the reference
/// lock, the databases by their numbers, users' devices by kind and token. A write reads and
/// changes the data of a database (numbers, records, zones, subscriptions, outbox, log) under that
/// database's lock. A write that needs further locks throws ``LocksNeeded``.
///
/// A store in a file has one writer and needs no locks. Within a process, ``WriteSchedule`` uses
/// the same values to decide which jobs may run at the same time.
struct WriteLocks: Hashable, Sendable {
  /// The locks besides those of databases. Each case includes the locks of the cases before it.
  enum Reach: Int, Comparable, Sendable {
    /// No lock: the engine locks the rows that each statement changes.
    case rows
    /// The lock of data outside of databases: users, devices, sessions, keys, schemas, counters.
    case reference
    /// All locks: the reference lock, and the locks of all databases. The schema can change, since
    /// no save is under way.
    case everything

    static func < (one: Reach, other: Reach) -> Bool { one.rawValue < other.rawValue }
  }

  /// The locks besides those of databases and badges.
  private(set) var reach: Reach
  /// The locked databases, sorted by number, each once.
  private(set) var databases: [DatabaseID]
  /// The users whose devices' badges (the numbers on an app's icon) the write counts. The
  /// transaction locks these users' devices.
  private(set) var badgeOwners: Set<String>
  /// Whether the write settles deliveries: it stores their outcomes. Within a process such writes
  /// run one after the other; between processes the engine locks the rows.
  private(set) var settlesDeliveries: Bool

  /// Creates locks. The databases must be sorted.
  private init(
    _ reach: Reach, databases: [DatabaseID] = [], badgeOwners: Set<String> = [],
    settlesDeliveries: Bool = false
  ) {
    self.reach = reach
    self.databases = databases
    self.badgeOwners = badgeOwners
    self.settlesDeliveries = settlesDeliveries
  }

  /// No locks: the engine locks the rows that each statement changes.
  static let rows = WriteLocks(.rows)
  /// The lock of data outside of databases.
  static let reference = WriteLocks(.reference)
  /// All locks. While such a write runs, no other write has the lock of a database or the reference
  /// lock.
  static let everything = WriteLocks(.everything)
  /// The locks of a write that settles deliveries (stores their outcomes).
  static let deliveries = WriteLocks(.rows, settlesDeliveries: true)

  /// Returns the lock of one database.
  static func database(_ database: DatabaseID) -> WriteLocks {
    WriteLocks(.rows, databases: [database])
  }

  /// Returns the locks of several databases, in any order. A distributed store permits only one
  /// database in a transaction.
  static func databases(_ databases: some Sequence<DatabaseID>) -> WriteLocks {
    WriteLocks(.rows, databases: Set(databases).sorted())
  }

  /// Returns the locks of a write that counts the badges of these users: the locks of their
  /// devices.
  static func badges(of users: Set<String>) -> WriteLocks {
    WriteLocks(.rows, badgeOwners: users)
  }

  /// Returns the locks of this value and of `other`.
  func union(_ other: WriteLocks) -> WriteLocks {
    var union = self
    union.formUnion(other)
    return union
  }

  /// Adds the locks of `other`. The databases stay sorted.
  mutating func formUnion(_ other: WriteLocks) {
    reach = max(reach, other.reach)
    settlesDeliveries = settlesDeliveries || other.settlesDeliveries
    if !other.badgeOwners.isEmpty { badgeOwners.formUnion(other.badgeOwners) }
    guard databases != other.databases, !other.databases.isEmpty else { return }
    databases = databases.isEmpty ? other.databases : Set(databases + other.databases).sorted()
  }

  /// Removes all databases from these locks, if `needed` names a database. A transaction of a
  /// distributed store can then be repeated with the needed database alone.
  mutating func leaveDatabases(for needed: WriteLocks) {
    if !needed.databases.isEmpty { databases = [] }
  }

  /// Returns whether these locks permit everything that `other` permits. Badges and deliveries are
  /// not compared.
  func cover(_ other: WriteLocks) -> Bool {
    if reach == .everything { return true }
    return reach >= other.reach && other.databases.allSatisfy(hasDatabase)
  }

  /// Returns whether these locks permit writes to a database.
  func covers(_ database: DatabaseID) -> Bool {
    reach == .everything || hasDatabase(database)
  }

  /// Returns whether the database is among ``databases``, by a binary search if there are many.
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
  /// Returns the locks of a dispatcher's transaction: the databases of the changes, and the users
  /// whose badges the notifications raise.
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

extension StoreTransaction {
  /// Begins the engine's transaction, and reads what its jobs need.
  ///
  /// On PostgreSQL one round trip begins the transaction, takes the reference lock and the locks of
  /// databases, and reads the catalog version and what the jobs need. So the transaction reads
  /// everything that earlier holders of the locks committed. The locks of badges need another round
  /// trip.
  ///
  /// - Parameters:
  ///   - needs: what the jobs need to know.
  ///   - locksLater: whether the databases are locked only before the first further statement
  ///     (``lockUnchanged()``). All that the jobs know until then was read here.
  func begin(reading needs: [ReadNeeds], locksLater: Bool) throws {
    guard let locks else {
      try connection.beginWriting()
      return try CounterTable(transaction: self).followSchema()
    }
    var version: Int64?
    var queries = BeginningQueries(of: self, locking: locks, locksLater: locksLater)
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
    if locksLater { gate.beforeStatement = { [unowned self] in try lockUnchanged() } }
  }

  /// Locks the databases, and checks that they and the catalog are what the transaction has read.
  ///
  /// A commit raises the number of a database or its subscription version if it changes what the
  /// transaction read: records, zones, tombstones, who listens. A later statement may throw the error,
  /// at the latest the commit.
  ///
  /// - Throws: ``StoreError/Code/serializationFailure``. The writer then repeats the transaction, and
  ///   locks first.
  private func lockUnchanged() throws {
    var query = DatabaseTable.sql.lockUnchanged
    for database in locks?.databases ?? [] {
      guard let read = writes.databases[database]?.stored else { continue }
      query.rows.append(database.rawValue)
      query.rows.append(read.last)
      query.rows.append(read.subscriptionVersion)
    }
    try besidesWriteSet {
      try connection.runLater(query)
      try connection.runLater(CounterTable.sql.unchangedCatalog, [SQLValue(catalog.version)])
    }
  }
}

/// The error of a write that needs more locks than it requested. The writer repeats the transaction
/// with these locks too.
struct LocksNeeded: Error {
  /// The missing locks.
  var locks: WriteLocks
}

extension StoreTransaction {
  /// Checks that the transaction has these locks. On a store that is not shared, the check always
  /// succeeds. Call it before the first statement whose result depends on the rows that the locks
  /// protect.
  ///
  /// - Throws: ``LocksNeeded``.
  func require(_ locks: WriteLocks) throws {
    guard let held = self.locks, !held.cover(locks) else { return }
    throw LocksNeeded(locks: locks)
  }

  /// Adds the lock of a database that the transaction has created. No statement is needed, since no
  /// other transaction can see the database yet.
  func hold(made database: DatabaseID) {
    locks?.formUnion(.database(database))
  }

  /// Checks that a write has requested the lock of a database before it draws numbers from the
  /// database's sequence. The lock cannot be added later, because it decides the order of this
  /// write among the process's writes to the database.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` if the write has not requested the lock, which
  ///   is a mistake in the program.
  func checkLock(of database: DatabaseID) throws {
    guard let locks, !locks.covers(database) else { return }
    throw StoreError(
      .statementFailed, "a write to database \(database.rawValue) has not locked the database")
  }
}
