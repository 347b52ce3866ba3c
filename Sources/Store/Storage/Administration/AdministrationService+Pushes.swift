import CloudKitModel
import SQLEngine
import StoreModel

extension AdministrationService {
  /// Searches the notification log of a database from the newest entry to the oldest, and returns
  /// the entries that `isWanted` selects, with their deliveries.
  ///
  /// One call examines at most ``PushSearch/budget`` entries, 200 at a time.
  ///
  /// - Parameters:
  ///   - sequence: the number of the entry before which the search begins; nil begins at the newest
  ///     entry.
  ///   - limit: the most entries returned.
  ///   - isWanted: returns whether the result has an entry. The function runs once for each
  ///     examined entry, on a thread that reads the store, and must not block.
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

  /// Returns the entries with these numbers and their deliveries. A number without an entry is
  /// skipped: retention may have deleted the entry.
  func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush] {
    try await transactions.read { transaction in
      let log = NotificationLogTable(transaction: transaction)
      return try sequences.compactMap { try log.entry($0, in: database) }
        .map { try LoggedPush($0, in: transaction) }
    }
  }
}

extension LoggedPush {
  /// Reads the deliveries of an entry. The initializer reads at most ``PushSearch/deliveryLimit``
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
