import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func usage(of database: DatabaseID) async throws -> DatabaseUsage? {
    try await read { try DatabaseUsage(of: database, in: $0) }
  }
}

extension DatabaseUsage {
  /// How much a private or a public database holds; nil for others.
  init?(of database: DatabaseID, in transaction: StoreTransaction) throws {
    let databases = DatabaseTable(transaction: transaction)
    guard try databases.address(of: database).scope != .shared else { return nil }
    let unheld = try AssetTable(transaction: transaction).unheldBytes(in: database)
    self.init(bytes: try databases.bytesInRow(of: database), unheldAssetBytes: unheld)
  }
}
