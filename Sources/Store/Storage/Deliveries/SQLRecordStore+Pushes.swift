import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func pushes(
    in database: DatabaseID, before sequence: Int64?, limit: Int,
    where isWanted: @escaping @Sendable (LogEntry) -> Bool
  ) async throws -> PushSearch {
    try await read { session in
      let log = NotificationLogTable(session: session)
      let search = PiecewiseSearch(budget: PushSearch.budget, pieceSize: 200, limit: limit)
      let (found, next) = try search.walk(from: sequence ?? Int64.max) { place, count in
        try log.entries(of: database, before: place, limit: count)
      } place: {
        $0.sequence
      } wanted: {
        isWanted($0) ? try LoggedPush($0, in: session) : nil
      }
      return PushSearch(found: found, next: next)
    }
  }

  public func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush] {
    try await read { session in
      let log = NotificationLogTable(session: session)
      return try sequences.compactMap { try log.entry($0, in: database) }
        .map { try LoggedPush($0, in: session) }
    }
  }
}

extension LoggedPush {
  /// An entry with its deliveries.
  fileprivate init(_ entry: LogEntry, in session: StoreSession) throws {
    self.init(
      entry: entry,
      deliveries: try DeliveryTable(session: session)
        .loggedDeliveries(ofEntry: entry.sequence, in: entry.database),
      unsent: try NotificationLogTable(session: session)
        .unsentDeliveries(ofEntry: entry.sequence, in: entry.database))
  }
}
