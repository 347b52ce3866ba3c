import CloudKitModel
import StoreModel

/// A value that belongs to a database, so that writes about many such values can be divided by
/// database.
protocol InDatabase: Sendable {
  /// The database whose lock the write needs.
  var database: DatabaseID { get }
}

extension Delivery.ID: InDatabase {}
extension AssetName: InDatabase {}
extension DeliveryUpdate: InDatabase {
  var database: DatabaseID { id.database }
}

extension Transactions {
  /// Runs a write that concerns rows of several databases.
  ///
  /// The method runs one transaction with the locks of all the databases. In a distributed store it
  /// runs one transaction for each database, one after the other. If the transaction of one
  /// database fails, those of earlier databases stay committed. Each must therefore be useful
  /// alone.
  ///
  /// - Parameters:
  ///   - rows: the rows, which were read before. Another server may have handled them since.
  ///   - settlesDeliveries: whether the write concerns deliveries only, and locks no database.
  /// - Returns: the result of `body` for each transaction; empty without rows.
  @discardableResult
  func inEachDatabase<Row: InDatabase, Value: Sendable>(
    of rows: [Row], settlesDeliveries: Bool = false,
    _ body: @escaping @Sendable (StoreTransaction, [Row]) throws -> Value
  ) async throws -> [Value] {
    guard !rows.isEmpty else { return [] }
    let groups = Dictionary(grouping: rows, by: \.database)
    guard context.isDistributed else {
      let locks = settlesDeliveries ? .deliveries : WriteLocks.databases(groups.keys)
      return [try await write(locking: locks) { try body($0, rows) }]
    }
    var values: [Value] = []
    for (database, rows) in groups.sorted(by: { $0.key < $1.key }) {
      let locks = settlesDeliveries ? .deliveries : WriteLocks.database(database)
      values.append(try await write(locking: locks) { try body($0, rows) })
    }
    return values
  }

  /// Deletes found rows in batches until there are no more.
  ///
  /// Each batch is a read, then a write. A batch that is not full is the last one.
  ///
  /// - Parameters:
  ///   - find: returns up to ``Retention/batch`` rows.
  ///   - drop: deletes those of the rows that still exist, and returns the number of rows that it
  ///     got.
  func inBatches<Row: InDatabase>(
    _ find: @escaping @Sendable (StoreTransaction) throws -> [Row],
    drop: @escaping @Sendable (StoreTransaction, [Row]) throws -> Int
  ) async throws {
    var dropped = Int(Retention.batch)
    while dropped >= Int(Retention.batch) {
      let rows = try await read(find)
      dropped = try await inEachDatabase(of: rows, drop).reduce(0, +)
    }
  }
}
