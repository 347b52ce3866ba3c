import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func access(
    of userRecordName: String?, toTypes names: Set<String>, in database: DatabaseID
  ) async throws -> [String: RecordAccess] {
    try await read { transaction in
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      return try Dictionary(
        uniqueKeysWithValues: names.map {
          ($0, try RecordAccess(of: userRecordName, toType: $0, at: address, in: transaction))
        })
    }
  }
}
