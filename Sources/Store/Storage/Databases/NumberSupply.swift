import CloudKitModel
import StoreModel

/// A supply of numbers of one database, drawn in a transaction that writes to it.
///
/// Records, zones, versions, changes, log entries and deliveries of a database share one sequence.
/// Each number is used once or never.
///
/// The numbers rise from commit to commit: drawing requires the database's lock (``WriteLocks``),
/// so commits of one database happen in the order of their numbers.
///
/// A draw is one statement for many numbers, and the size of a draw grows with the transaction.
/// Numbers that are left at the commit are lost, which is harmless.
struct NumberSupply {
  let database: DatabaseID
  /// The database's subscription version in this transaction.
  ///
  /// 0 before the first draw.
  private(set) var subscriptionVersion: Int64 = 0
  /// The next number to be taken; equal to ``end`` if there is none.
  private var next: Int64 = 0
  /// The end of the drawn numbers, exclusive.
  private var end: Int64 = 0
  /// The count of numbers drawn so far.
  private var drawn = 0

  /// Creates a supply that draws its first numbers on demand.
  init(of database: DatabaseID) {
    self.database = database
  }

  /// Draws `count` numbers; more are drawn after these are used. The subscription version is known
  /// after the call.
  init(of database: DatabaseID, count: Int, from transaction: StoreTransaction) throws {
    self.database = database
    try draw(count, from: transaction)
  }

  /// Ensures that `count` numbers are available, and that the subscription version is known. A
  /// repeated call draws up to 256 numbers in advance.
  mutating func reserve(_ count: Int, from transaction: StoreTransaction) throws {
    let missing = count - Int(end - next)
    if missing > 0 || drawn == 0 { try draw(max(missing, min(drawn, 256)), from: transaction) }
  }

  /// Returns the next number, and marks it as used. If there is none, the method draws 64 to 1,024
  /// numbers.
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
    // The remaining numbers continue into the new ones, unless another supply drew in between.
    if first != end { next = first }
    end = last + 1
  }
}
