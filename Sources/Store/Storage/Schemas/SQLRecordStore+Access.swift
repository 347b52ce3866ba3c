import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func access(
    of userRecordName: String?, toTypes names: Set<String>, in database: DatabaseID
  ) async throws -> [String: RecordAccess] {
    try await read { session in
      let address = try DatabaseTable(session: session).address(of: database)
      return try Dictionary(
        uniqueKeysWithValues: names.map {
          ($0, try RecordAccess(of: userRecordName, toType: $0, at: address, in: session))
        })
    }
  }
}
