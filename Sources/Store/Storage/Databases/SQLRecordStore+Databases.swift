import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore: DatabaseStore {
  public func database(at address: DatabaseAddress) async throws -> DatabaseID {
    if let known = try await read({ try DatabaseTable(transaction: $0).database(at: address) }) {
      return known
    }
    return try await write(locking: .reference) { transaction in
      let databases = DatabaseTable(transaction: transaction)
      return try databases.database(at: address) ?? databases.add(at: address)
    }
  }

  public func address(of database: DatabaseID) async throws -> DatabaseAddress {
    try await read { try DatabaseTable(transaction: $0).address(of: database) }
  }
}
