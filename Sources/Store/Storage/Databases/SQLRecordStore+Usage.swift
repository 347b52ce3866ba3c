import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func usage(of database: DatabaseID) async throws -> DatabaseUsage? {
    try await read { try $0.usage(of: database) }
  }
}

extension StoreSession {
  /// How much a private or a public database holds; nil for others.
  func usage(of database: DatabaseID) throws -> DatabaseUsage? {
    guard try DatabaseTable(session: self).address(of: database).scope != .shared else {
      return nil
    }
    let unheld = try connection.first(
      """
      SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM assets
      WHERE database_id = $1 AND released IS NOT NULL
      """, [.integer(database.rawValue)]
    ) { $0.integer(0) }
    return DatabaseUsage(
      bytes: try DatabaseTable(session: self).bytesInRow(of: database),
      unheldAssetBytes: unheld ?? 0)
  }
}
