import CloudKitModel
import StoreModel

/// Numbers of one database, drawn in a transaction that writes to it.
///
/// They rise from commit to commit: who draws has the database's lock (``WriteLocks``), so that commits
/// of one database happen in the order of their numbers.
struct NumberSupply {
  let database: DatabaseID
  /// The database's subscription version in this transaction.
  private(set) var subscriptionVersion: Int64 = 0
  private var next: Int64 = 0
  private var end: Int64 = 0
  private var drawn = 0

  /// A supply that draws its first numbers when it is asked for them.
  init(of database: DatabaseID) {
    self.database = database
  }

  /// Draws `count` numbers; more are drawn when these are used up.
  init(of database: DatabaseID, count: Int, from transaction: StoreTransaction) throws {
    self.database = database
    try draw(count, from: transaction)
  }

  /// Sees to it that `count` numbers are there. Who asks again gets some for those to come.
  mutating func reserve(_ count: Int, from transaction: StoreTransaction) throws {
    let missing = count - Int(end - next)
    if missing > 0 || drawn == 0 { try draw(max(missing, min(drawn, 256)), from: transaction) }
  }

  mutating func take(from transaction: StoreTransaction) throws -> Int64 {
    // Who takes many one by one gets more at a time.
    if next == end { try draw(max(64, min(drawn, 1_024)), from: transaction) }
    defer { next += 1 }
    return next
  }

  private mutating func draw(_ count: Int, from transaction: StoreTransaction) throws {
    let (last, version) = try DatabaseTable(transaction: transaction).draw(count, from: database)
    subscriptionVersion = version
    drawn += count
    let first = last - Int64(count) + 1
    // What is left goes on into what was drawn, unless somebody else drew in between.
    if first != end { next = first }
    end = last + 1
  }
}
