import CloudKitModel
import SQLEngine
import StoreModel

/// Databases by their addresses, and the storage that they use.
struct DatabaseService: DatabaseStore {
  let transactions: Transactions

  func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID? {
    try await transactions.read { try DatabaseTable(transaction: $0).database(at: address) }
  }

  func database(at address: DatabaseAddress) async throws -> DatabaseID {
    if let known = try await transactions.read({
      try DatabaseTable(transaction: $0).database(at: address)
    }) {
      return known
    }
    return try await transactions.write(locking: .reference) { transaction in
      let databases = DatabaseTable(transaction: transaction)
      return try databases.database(at: address) ?? databases.add(at: address)
    }
  }

  func address(of database: DatabaseID) async throws -> DatabaseAddress {
    try await transactions.read { try DatabaseTable(transaction: $0).address(of: database) }
  }

  func usage(of database: DatabaseID) async throws -> DatabaseUsage? {
    try await transactions.read { try DatabaseUsage(of: database, in: $0) }
  }
}

extension DatabaseUsage {
  /// The storage that a private or a public database uses; nil for others.
  init?(of database: DatabaseID, in transaction: StoreTransaction) throws {
    let databases = DatabaseTable(transaction: transaction)
    guard try databases.address(of: database).scope != .shared else { return nil }
    let unheld = try AssetTable(transaction: transaction).unheldBytes(in: database)
    self.init(bytes: try databases.bytesInRow(of: database), unheldAssetBytes: unheld)
  }
}
