import CloudKitModel
import SQLEngine
import StoreModel

extension MaintenanceService {
  /// Does a small step of the work on one index (``IndexWork``), in one transaction. Several
  /// processes may call the method at the same time. Returns the progress; nil without work.
  public func continueIndexWork() async throws -> IndexWork? {
    // The read comes first, because there is almost never any work, and a read does not delay
    // writers.
    guard
      let place = try await transactions.read({
        try IndexWorkTable(transaction: $0).pending().first?.position.database
      })
    else {
      return nil
    }
    let database = WriteLocks.database(DatabaseID(rawValue: place))
    return try await transactions.write(
      locking: .reference.union(database), rows: Int(Retention.batch)
    ) { transaction in
      guard var pending = try IndexWorkTable(transaction: transaction).pending().first else {
        return nil
      }
      let worker = IndexWorker(transaction: transaction)
      try worker.lockPlace(of: &pending)
      switch pending.work.phase {
      case .clearing?: try worker.clearSome(&pending)
      case .building?: try worker.buildSome(&pending)
      case nil: break
      }
      return pending.work
    }
  }
}
