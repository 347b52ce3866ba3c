import StoreModel

/// A value that belongs to a database, such as a row.
protocol InDatabase: Sendable {
  /// A write of the value needs the lock of this database.
  var database: DatabaseID { get }
}

extension Delivery.ID: InDatabase {}
extension AssetName: InDatabase {}
extension DeliveryUpdate: InDatabase {
  var database: DatabaseID { id.database }
}

extension Transactions {
  /// Runs one transaction with the locks of all the databases of some rows, in a distributed store
  /// one for each database. If one of them fails, the earlier ones stay committed, so each must
  /// leave the store consistent by itself.
  ///
  /// - Parameters:
  ///   - rows: rows that an earlier transaction read. Another server may have changed or deleted
  ///     them since.
  ///   - settlesDeliveries: whether the write changes only deliveries. The transactions then lock
  ///     no database (``WriteLocks/deliveries``).
  @discardableResult
  func inEachDatabase<Row: InDatabase, Value: Sendable>(
    of rows: [Row], settlesDeliveries: Bool = false,
    _ body: @escaping @Sendable (StoreTransaction, [Row]) throws -> Value
  ) async throws -> [Value] {
    guard !rows.isEmpty else { return [] }
    let groups = Dictionary(grouping: rows, by: \.database)
    guard context.isDistributed else {
      let locks = settlesDeliveries ? .deliveries : WriteLocks.databases(groups.keys)
      return [try await write(locking: locks, rows: rows.count) { try body($0, rows) }]
    }
    var values: [Value] = []
    for (database, rows) in groups.sorted(by: { $0.key < $1.key }) {
      let locks = settlesDeliveries ? .deliveries : WriteLocks.database(database)
      values.append(try await write(locking: locks, rows: rows.count) { try body($0, rows) })
    }
    return values
  }

  /// Finds and deletes rows in batches, until a batch is not full. Each batch is a read, and then a
  /// write by ``inEachDatabase(of:settlesDeliveries:_:)``.
  ///
  /// `find` returns up to ``Retention/batch`` rows. `drop` deletes those that still exist, and
  /// returns the number of rows passed to it.
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
