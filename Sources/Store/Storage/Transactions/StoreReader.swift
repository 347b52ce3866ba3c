import StoreModel

/// A reading thread: it runs each job in a transaction with one snapshot of the store.
struct StoreReader {
  let queue: JobQueue
  var tally = ReadTally()

  /// Runs jobs until the queue is closed and empty.
  func work(over connection: StoreConnection) {
    while let jobs = queue.take(most: 1) {
      for job in jobs {
        if job.cancellation?.isCancelled ?? false {
          tally.countWaiting()
          job.finish(CancellationError())
          continue
        }
        do {
          do {
            try run(job, over: connection)
          } catch let error as StoreError where error.code == .unreachable {
            // A read changes nothing, so it is repeated once over a new connection.
            try run(job, over: connection)
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

  private func run(_ job: any StoreJob, over connection: StoreConnection) throws {
    let engine = connection.engine
    do {
      let transaction = StoreTransaction(
        over: connection, wholeRuns: connection.caches.tail?.wholeRuns)
      try engine.beginReading()
      try job.cancellation?.begin(on: engine)
      try CounterTable(transaction: transaction).followSchema()
      try job.run(in: transaction)
      job.cancellation?.end(on: engine)
      try engine.commit()
    } catch {
      let isGivenUp = job.cancellation?.end(on: engine) ?? false
      engine.giveUpTransaction()
      throw isGivenUp ? CancellationError() : error
    }
  }
}
