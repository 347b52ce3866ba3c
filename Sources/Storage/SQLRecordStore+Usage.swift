import CloudKitModel

extension SQLRecordStore {
  public func usage(of database: DatabaseID) async throws -> DatabaseUsage? {
    try await read { session in
      guard try session.address(of: database).scope == .private else { return nil }
      let unheld = try session.connection.first(
        """
        SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM assets
        WHERE database_id = $1 AND released IS NOT NULL
        """, [.integer(database.rawValue)]
      ) { $0.integer(0) }
      return DatabaseUsage(
        bytes: try session.bytesInRow(of: database), unheldAssetBytes: unheld ?? 0)
    }
  }
}
