import CloudKitModel
import StoreModel

/// Something of a database that is written about.
protocol InDatabase: Sendable {
  var database: DatabaseID { get }
}

extension Delivery.ID: InDatabase {}
extension AssetName: InDatabase {}
extension DeliveryUpdate: InDatabase {
  var database: DatabaseID { id.database }
}

extension Transactions {
  /// Writes something about rows of any databases: as one transaction that has the locks of all of them,
  /// or, in a distributed store, as one for each database, one after the other. So what is written in one
  /// database may stay when a later one fails, and must be of use by itself.
  ///
  /// - Parameters:
  ///   - rows: what it is about, which was read before: another server may have been quicker.
  ///   - settlesDeliveries: whether it is about deliveries alone, and locks no database.
  /// - Returns: what `body` answers for each transaction.
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

  /// Drops what is found, a batch at a time, until there is no more of it.
  ///
  /// - Parameters:
  ///   - find: finds up to ``Retention/batch`` rows.
  ///   - drop: drops those that are still there, and answers how many it was to drop.
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
