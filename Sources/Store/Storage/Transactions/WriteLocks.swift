import CloudKitModel
import SQLEngine
import StoreModel

/// The locks of a write until its commit, on a shared store.
///
/// The writer takes these locks before the write begins, always in the same order: reference, the
/// databases by their numbers, users' devices by kind and token. All data of a database (its
/// numbers, records, zones, subscriptions, outbox, log) is read for a write and written under its
/// lock. A write that needs further locks throws ``LocksNeeded``.
///
/// A store in a file has one writer and needs no locks. Within a process, ``WriteSchedule`` uses
/// the same values to decide which jobs may run side by side.
struct WriteLocks: Hashable, Sendable {
  /// The locks besides those of databases.
  enum Reach: Int, Comparable, Sendable {
    /// No lock: each statement decides by the rows that it changes.
    case rows
    /// The lock of data outside of databases: users, devices, sessions, keys, schemas, counters.
    case reference
    /// All locks: the schema can change, since no save is under way.
    case everything

    static func < (one: Reach, other: Reach) -> Bool { one.rawValue < other.rawValue }
  }

  /// The locks besides those of databases and badges.
  private(set) var reach: Reach
  /// The locked databases, sorted by number, each once.
  private(set) var databases: [DatabaseID]
  /// The users whose devices' badges are counted. Several transactions may count them, each the
  /// badges of many users.
  private(set) var badgeOwners: Set<String>
  /// Whether the write settles deliveries. Within a process such writes run one after the other;
  /// between processes the rows decide.
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

  /// No locks: each statement decides by the rows that it changes.
  static let rows = WriteLocks(.rows)
  /// The lock of data outside of databases.
  static let reference = WriteLocks(.reference)
  /// All locks. While such a write runs, no other write has the lock of a database or the reference
  /// lock.
  static let everything = WriteLocks(.everything)
  /// The locks of a write that settles deliveries.
  static let deliveries = WriteLocks(.rows, settlesDeliveries: true)

  /// Returns the lock of one database.
  static func database(_ database: DatabaseID) -> WriteLocks {
    WriteLocks(.rows, databases: [database])
  }

  /// Returns the locks of several databases, in any order. A distributed store permits only one in
  /// a transaction.
  static func databases(_ databases: some Sequence<DatabaseID>) -> WriteLocks {
    WriteLocks(.rows, databases: Set(databases).sorted())
  }

  /// Returns the locks of the devices of users whose badges are counted.
  static func badges(of users: Set<String>) -> WriteLocks {
    WriteLocks(.rows, badgeOwners: users)
  }

  /// Returns the locks of both.
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

  /// Drops its databases if others are needed. A transaction of a distributed store can then be
  /// repeated in another database.
  mutating func leaveDatabases(for needed: WriteLocks) {
    if !needed.databases.isEmpty { databases = [] }
  }

  /// Returns whether these locks permit what the others permit. Badges and deliveries are not
  /// compared.
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

extension WriteLocks {
  /// Begins a transaction that takes these locks before it reads anything. So it reads everything
  /// that earlier holders committed.
  ///
  /// On PostgreSQL all statements up to the catalog version take one round trip. The locks of
  /// badges need another one.
  ///
  /// - Returns: the catalog version, if it comes at no cost; nil on SQLite.
  func beginWriting(on connection: any SQLConnection) throws -> Int64? {
    guard connection.isShared else {
      try connection.beginWriting()
      return nil
    }
    var statements: [String] = []
    if reach >= .reference {
      statements.append(CounterTable.referenceLock)
    }
    if reach == .everything {
      statements.append(DatabaseTable.lock)
    } else if !databases.isEmpty {
      statements.append(DatabaseTable.lock(of: databases))
    }
    statements.append(CounterTable.catalogVersion)
    let version = try connection.beginWriting(with: statements)
    if !badgeOwners.isEmpty { try DeviceTable.lockBadges(of: badgeOwners, over: connection) }
    return version
  }
}

/// An error of a write that needs locks which it did not request. The writer repeats the
/// transaction with them.
struct LocksNeeded: Error {
  /// The missing locks.
  var locks: WriteLocks
}

extension StoreTransaction {
  /// Checks that the transaction has these locks. Call it before the first statement whose result
  /// depends on the rows that the locks protect.
  ///
  /// - Throws: ``LocksNeeded``.
  func require(_ locks: WriteLocks) throws {
    guard let held = self.locks, !held.cover(locks) else { return }
    throw LocksNeeded(locks: locks)
  }

  /// Adds the lock of a database that the transaction has created. No other transaction can see the
  /// database yet.
  func hold(made database: DatabaseID) {
    locks?.formUnion(.database(database))
  }

  /// Checks that a write which draws numbers of a database has requested its lock. The lock cannot
  /// be added later, because it decides the write's position among the process's writes to the
  /// database.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` if it has not: a mistake in the program.
  func checkLock(of database: DatabaseID) throws {
    guard let locks, !locks.covers(database) else { return }
    throw StoreError(
      .statementFailed, "a write to database \(database.rawValue) has not locked the database")
  }
}
