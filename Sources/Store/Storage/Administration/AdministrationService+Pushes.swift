import CloudKitModel
import SQLEngine
import StoreModel

extension AdministrationService {
  /// Searches the notification log of a database from its newest entry to its oldest, and returns
  /// the wanted entries with their deliveries.
  ///
  /// One call examines at most ``PushSearch/budget`` entries, 200 at a time.
  ///
  /// - Parameters:
  ///   - sequence: the entry before which the search begins; nil begins at the newest.
  ///   - limit: the most entries returned.
  ///   - isWanted: runs on the reading thread, once for each examined entry. The function must not
  ///     block.
  func pushes(
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

  /// Returns the entries with these numbers and their deliveries. Numbers without an entry, as of
  /// trimmed ones, are left out.
  func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush] {
    try await transactions.read { transaction in
      let log = NotificationLogTable(transaction: transaction)
      return try sequences.compactMap { try log.entry($0, in: database) }
        .map { try LoggedPush($0, in: transaction) }
    }
  }
}

extension LoggedPush {
  /// An entry with its deliveries. The initializer reads at most ``PushSearch/deliveryLimit``
  /// deliveries.
  fileprivate init(_ entry: LogEntry, in transaction: StoreTransaction) throws {
    self.init(
      entry: entry,
      deliveries: try DeliveryTable(transaction: transaction)
        .loggedDeliveries(ofEntry: entry.sequence, in: entry.database),
      unsent: try NotificationLogTable(transaction: transaction)
        .unsentDeliveries(ofEntry: entry.sequence, in: entry.database))
  }
}
