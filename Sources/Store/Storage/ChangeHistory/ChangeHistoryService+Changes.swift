import CloudKitModel
import Foundation
import StoreModel

// A change is dispatched when all its notifications are in the log. Dispatched changes stay in the
// outbox as a history, which explains why a push was or was not sent.
extension ChangeHistoryService {
  /// Returns the latest changes of a database, newest first.
  ///
  /// - Parameters:
  ///   - recordID: nil returns all changes. A change without fields (``PastChange/hasFields``) is
  ///     found by the record's name alone.
  ///   - sequence: only earlier changes are returned; nil begins with the newest dispatched change.
  /// - Complexity: at worst O(*n*), where *n* is the number of changes in the database's history.
  public func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, before sequence: Int64?, limit: Int
  ) async throws -> [PastChange] {
    try await transactions.read { transaction in
      guard let position = try DispatchTable(transaction: transaction).position(of: database) else {
        return []
      }
      // The search begins at `sequence - 1`. The maximum prevents an overflow at `Int64.min`.
      var end = position.wholeThrough
      if let sequence { end = min(end, max(sequence, .min + 1) - 1) }
      let pageSize = recordID == nil ? max(1, limit) : 500
      var found: [PastChange] = []
      while found.count < limit {
        let page = try OutboxTable(transaction: transaction).pastChanges(
          of: recordID, in: database, through: end, limit: pageSize)
        found += page.changes
        guard let oldest = page.oldest else { break }
        end = oldest - 1
      }
      return Array(found.prefix(limit))
    }
  }

  /// Deletes changes that were dispatched before `horizon`, except partly dispatched ones.
  ///
  /// The method reads all rows of ``DispatchTable`` in pages. It deletes an old row together with
  /// the changes that its transaction dispatched, and with all earlier changes of the database.
  func trimChangeHistory(before horizon: Timestamp) async throws {
    let pageSize: Int64 = 5_000
    var last = DispatchTable.Key(database: .min, through: .min)
    while true {
      let page = try await transactions.read { [last] transaction in
        try DispatchTable(transaction: transaction).dispatches(behind: last, limit: pageSize)
      }
      let old = page.filter { $0.dispatched < horizon.milliseconds && $0.isWhole }
      var begin = 0
      while begin < old.count {
        // Consecutive rows of one database, with about as many changes as one write may delete.
        let end =
          old[begin...].firstIndex {
            $0.key.database == old[begin].key.database
              && $0.changes - old[begin].changes > Retention.batch
          } ?? min(old.count, begin + Int(Retention.batch))
        let group = old[begin..<min(end, begin + Int(Retention.batch))]
        try await transactions.inEachDatabase(of: Array(group)) { transaction, dispatches in
          for dispatch in dispatches {
            try DispatchTable(transaction: transaction).drop(dispatch.key)
          }
        }
        begin = group.endIndex
      }
      guard page.count == Int(pageSize), let end = page.last else { return }
      last = end.key
    }
  }
}
