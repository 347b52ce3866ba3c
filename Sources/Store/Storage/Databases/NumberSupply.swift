import CloudKitModel
import StoreModel

/// The numbers that a transaction has drawn from one database's sequence.
///
/// Each database has one sequence of numbers, for its records, zones, versions, changes, log
/// entries and deliveries. No number is drawn twice.
///
/// A transaction must have the database's lock (``WriteLocks``) to draw numbers. So the commits of
/// one database happen in the order of their numbers.
///
/// One statement draws many numbers. The more numbers the transaction has drawn, the more the next
/// statement draws. Numbers that are not used before the commit are never used, which is harmless.
struct NumberSupply {
  /// The first number of each database. It is that of the default zone, with which the database is
  /// created.
  static let first: Int64 = 1

  let database: DatabaseID
  /// The database's subscription version when the numbers were last drawn.
  ///
  /// The value is 0 before the first draw.
  private(set) var subscriptionVersion: Int64 = 0
  /// The next unused number. It equals ``end`` if all drawn numbers are used.
  private var next: Int64 = 0
  /// The end of the drawn numbers, exclusive.
  private var end: Int64 = 0
  /// The count of numbers drawn so far.
  private var drawn = 0

  /// Creates a supply that draws its first numbers when they are needed.
  init(of database: DatabaseID) {
    self.database = database
  }

  /// Creates a supply and draws its first `count` numbers. ``subscriptionVersion`` is known after
  /// the call.
  ///
  /// - Throws: the errors of ``DatabaseTable/draw(_:from:)``.
  init(of database: DatabaseID, count: Int, from transaction: StoreTransaction) throws {
    self.database = database
    try draw(count, from: transaction)
  }

  /// Ensures that `count` unused numbers are available, and that ``subscriptionVersion`` is known.
  /// If numbers are missing, the method draws at least as many as it has drawn before, up to 256.
  ///
  /// - Throws: the errors of ``DatabaseTable/draw(_:from:)``.
  mutating func reserve(_ count: Int, from transaction: StoreTransaction) throws {
    let missing = count - Int(end - next)
    if missing > 0 || drawn == 0 { try draw(max(missing, min(drawn, 256)), from: transaction) }
  }

  /// Returns the next unused number, which is then used. If there is none, the method first draws
  /// 64 to 1,024 numbers.
  ///
  /// - Throws: the errors of ``DatabaseTable/draw(_:from:)``.
  mutating func take(from transaction: StoreTransaction) throws -> Int64 {
    // The size of a draw grows with the count of numbers drawn so far.
    if next == end { try draw(max(64, min(drawn, 1_024)), from: transaction) }
    defer { next += 1 }
    return next
  }

  /// Draws numbers by one statement.
  private mutating func draw(_ count: Int, from transaction: StoreTransaction) throws {
    let (last, version) = try DatabaseTable(transaction: transaction).draw(count, from: database)
    subscriptionVersion = version
    drawn += count
    let first = last - Int64(count) + 1
    // If no other supply has drawn in between, the new numbers follow the unused ones, and `next`
    // stays. Otherwise the unused numbers are lost.
    if first != end { next = first }
    end = last + 1
  }
}
