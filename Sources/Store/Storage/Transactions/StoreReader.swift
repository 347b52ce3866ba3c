import StoreModel

/// A thread that reads: it runs each job in a transaction that sees one state of the store.
struct StoreReader {
  let queue: JobQueue
  var tally = ReadTally()

  /// Works until the queue is closed and empty.
  func work(in transaction: StoreTransaction) {
    while let jobs = queue.take(most: 1) {
      for job in jobs {
        if job.cancellation?.isCancelled ?? false {
          tally.countWaiting()
          job.finish(CancellationError())
          continue
        }
        do {
          do {
            try run(job, in: transaction)
          } catch let error as StoreError where error.code == .unreachable {
            // It changes nothing, and the next connection may be a good one.
            try run(job, in: transaction)
          }
          tally.note(nil)
          job.finish(nil)
        } catch {
          tally.note(error)
          if error is CancellationError { tally.countRunning() }
          job.finish(error)
        }
      }
    }
  }

  private func run(_ job: any StoreJob, in transaction: StoreTransaction) throws {
    do {
      transaction.wholeRuns = transaction.tail?.wholeRuns
      try transaction.connection.beginReading()
      try job.cancellation?.begin(on: transaction.connection)
      try CounterTable(transaction: transaction).followSchema()
      try job.run(in: transaction)
      job.cancellation?.end(on: transaction.connection)
      try transaction.connection.commit()
    } catch {
      let isGivenUp = job.cancellation?.end(on: transaction.connection) ?? false
      if transaction.connection.isInTransaction { try? transaction.connection.rollback() }
      throw isGivenUp ? CancellationError() : error
    }
  }
}
