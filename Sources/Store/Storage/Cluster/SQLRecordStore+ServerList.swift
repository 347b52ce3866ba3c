import StoreModel

extension SQLRecordStore {
  public func listedServers() async throws -> [ListedServer] {
    try await read { session in
      var leases: [Int64: (leased: Int, awaited: Int)] = [:]
      try session.connection.query(
        """
        SELECT holder, COUNT(*), COUNT(CASE WHEN awaited = 1 THEN 1 END) FROM dispatch_leases
        GROUP BY holder
        """, []
      ) { leases[$0.integer(0)] = (Int($0.integer(1)), Int($0.integer(2))) }
      return try session.connection.rows(
        """
        SELECT server_id, description, alive_until - \(StoreClock.expression) FROM servers
        ORDER BY server_id
        """, []
      ) {
        let own = leases[$0.integer(0)] ?? (0, 0)
        return ListedServer(
          id: ServerID(rawValue: $0.integer(0)), description: $0.text(1),
          secondsLeft: Double($0.integer(2)) / 1_000, leasedDatabases: own.leased,
          awaitedDatabases: own.awaited)
      }
    }
  }
}
