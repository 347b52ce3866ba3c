import CloudKitModel
import StoreModel

/// Numbers of one database, drawn in a transaction that writes to it.
///
/// The numbers rise from commit to commit: drawing requires the database's lock (``WriteLocks``),
/// so commits of one database happen in the order of their numbers.
struct NumberSupply {
  let database: DatabaseID
  /// The database's subscription version in this transaction.
  private(set) var subscriptionVersion: Int64 = 0
  private var next: Int64 = 0
  private var end: Int64 = 0
  private var drawn = 0

  /// Creates a supply that draws its first numbers on demand.
  init(of database: DatabaseID) {
    self.database = database
  }

  /// Draws `count` numbers; more are drawn after these are used.
  init(of database: DatabaseID, count: Int, from transaction: StoreTransaction) throws {
    self.database = database
    try draw(count, from: transaction)
  }

  /// Ensures that `count` numbers are available. Repeated calls draw some more in advance.
  mutating func reserve(_ count: Int, from transaction: StoreTransaction) throws {
    let missing = count - Int(end - next)
    if missing > 0 || drawn == 0 { try draw(max(missing, min(drawn, 256)), from: transaction) }
  }

  mutating func take(from transaction: StoreTransaction) throws -> Int64 {
    // The more were drawn, the more are drawn at once.
    if next == end { try draw(max(64, min(drawn, 1_024)), from: transaction) }
    defer { next += 1 }
    return next
  }

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
