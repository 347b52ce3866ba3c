import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func indexWork() async throws -> [IndexWork] {
    try await read { transaction in
      try IndexWorkTable(transaction: transaction).pending().map { pending in
        var work = pending.work
        if work.phase == .building {
          work.total = try IndexWorker(transaction: transaction).scan(for: pending)?.countRecords()
        }
        return work
      }
    }
  }

  public func continueIndexWork() async throws -> IndexWork? {
    // Nearly always there is none, and reading does not hold up those who write.
    guard
      let place = try await read({
        try IndexWorkTable(transaction: $0).pending().first?.position.database
      })
    else {
      return nil
    }
    let database = WriteLocks.database(DatabaseID(rawValue: place))
    return try await write(locking: .reference.union(database)) { transaction in
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
