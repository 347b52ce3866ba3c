import CloudKitModel
import SQLEngine
import StoreModel

/// What a write has for itself until its commit, where others write to the same store.
///
/// The writer takes these locks before the write begins, everyone in the same order: reference, the
/// databases by their numbers, users' devices by kind and token. All that belongs to a database
/// (its numbers, records, zones, subscriptions, outbox, log) is read for a write and written under
/// its lock. What is not declared and turns out to be needed is thrown as ``LocksNeeded``.
///
/// A store in a file has one writer, and no use for them.
struct WriteLocks: Hashable, Sendable {
  /// What it has beside its databases.
  enum Reach: Int, Comparable, Sendable {
    /// Nothing: each statement decides by what it finds in the rows that it changes.
    case rows
    /// What is not any database's: users, devices, sessions, keys, schemas, counters.
    case reference
    /// Everything that has a lock: the schema can change, for nobody is in the midst of a save.
    case everything

    static func < (one: Reach, other: Reach) -> Bool { one.rawValue < other.rawValue }
  }

  private(set) var reach: Reach
  /// In the order of their numbers.
  private(set) var databases: [DatabaseID]
  /// Users whose devices' badges are counted: several transactions may, and each counts the badges of
  /// many.
  private(set) var badgeOwners: Set<String>
  /// Whether it concerns what becomes of deliveries. Of one process they are written one after the
  /// other; those of several decide by the rows.
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

  static let rows = WriteLocks(.rows)
  static let reference = WriteLocks(.reference)
  static let everything = WriteLocks(.everything)
  static let deliveries = WriteLocks(.rows, settlesDeliveries: true)

  static func database(_ database: DatabaseID) -> WriteLocks {
    WriteLocks(.rows, databases: [database])
  }

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

  /// Gives up its databases where others are needed.
  mutating func leaveDatabases(for needed: WriteLocks) {
    if !needed.databases.isEmpty { databases = [] }
  }

  /// Whether who has these may do what asks for those.
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
  /// What a transaction of the dispatcher concerns.
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
  /// Begins a transaction that has these locks before it reads anything: what it reads then is what all who
  /// had them before have left.
  ///
  /// - Returns: the schemas' version as it is then, where that is to be had for nothing.
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

/// That a write needs locks which it did not ask for: the transaction must be begun again with them.
struct LocksNeeded: Error {
  var locks: WriteLocks
}

extension StoreTransaction {
  /// Sees to it that the transaction has these locks. Before the first statement whose result counts
  /// for what they protect.
  ///
  /// - Throws: ``LocksNeeded``.
  func require(_ locks: WriteLocks) throws {
    guard let held = self.locks, !held.cover(locks) else { return }
    throw LocksNeeded(locks: locks)
  }

  /// The transaction has made this database, so that nobody else knows of it.
  func hold(made database: DatabaseID) {
    locks?.formUnion(.database(database))
  }

  /// Sees to it that a write which draws numbers of a database has told so beforehand. That cannot be
  /// made good later: its place among the process's writes to the database depends on it.
  func checkLock(of database: DatabaseID) throws {
    guard let locks, !locks.covers(database) else { return }
    throw StoreError(
      .statementFailed, "a write to database \(database.rawValue) has no lock of it")
  }
}
