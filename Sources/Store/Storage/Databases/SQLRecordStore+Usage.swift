import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func usage(of database: DatabaseID) async throws -> DatabaseUsage? {
    try await read { try DatabaseUsage(of: database, in: $0) }
  }
}

extension DatabaseUsage {
  /// How much a private or a public database holds; nil for others.
  init?(of database: DatabaseID, in session: StoreSession) throws {
    let databases = DatabaseTable(session: session)
    guard try databases.address(of: database).scope != .shared else { return nil }
    let unheld = try AssetTable(session: session).unheldBytes(in: database)
    self.init(bytes: try databases.bytesInRow(of: database), unheldAssetBytes: unheld)
  }
}
