import CloudKitModel
import SQLEngine
import StoreModel

extension AdministrationService {
  /// Searches a database's notification log, newest first.
  ///
  /// - Parameters:
  ///   - sequence: only older entries are searched; nil begins with the newest.
  ///   - isWanted: returns whether the result has an entry. One call examines at most
  ///     ``PushSearch/budget`` entries. The function must not block.
  public func pushes(
    in database: DatabaseID, before sequence: Int64?, limit: Int,
    where isWanted: @escaping @Sendable (LogEntry) -> Bool
  ) async throws -> PushSearch {
    try await transactions.read { transaction in
      let log = NotificationLogTable(transaction: transaction)
      let search = PiecewiseSearch(budget: PushSearch.budget, pieceSize: 200, limit: limit)
      let (found, next) = try search.walk(from: sequence ?? Int64.max) { place, count in
        try log.entries(of: database, before: place, limit: count)
      } place: {
        $0.sequence
      } wanted: {
        isWanted($0) ? try LoggedPush($0, in: transaction) : nil
      }
      return PushSearch(found: found, next: next)
    }
  }

  /// Returns the entries with these numbers. An entry that the store has deleted is absent.
  public func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush] {
    try await transactions.read { transaction in
      let log = NotificationLogTable(transaction: transaction)
      return try sequences.compactMap { try log.entry($0, in: database) }
        .map { try LoggedPush($0, in: transaction) }
    }
  }
}

extension LoggedPush {
  fileprivate init(_ entry: LogEntry, in transaction: StoreTransaction) throws {
    self.init(
      entry: entry,
      deliveries: try DeliveryTable(transaction: transaction)
        .loggedDeliveries(ofEntry: entry.sequence, in: entry.database),
      unsent: try NotificationLogTable(transaction: transaction)
        .unsentDeliveries(ofEntry: entry.sequence, in: entry.database))
  }
}
