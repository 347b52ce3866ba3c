import StoreModel

/// A thread that reads: it runs each job in a transaction that sees one state of the store.
struct StoreReader {
  let queue: JobQueue
  var tally = ReadTally()

  /// Works until the queue is closed and empty.
  func work(in session: StoreSession) {
    while let jobs = queue.take(most: 1) {
      for job in jobs {
        if job.cancellation?.isCancelled ?? false {
          tally.countWaiting()
          job.finish(CancellationError())
          continue
        }
        do {
          do {
            try run(job, in: session)
          } catch let error as StoreError where error.code == .unreachable {
            // It changes nothing, and the next connection may be a good one.
            try run(job, in: session)
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

  private func run(_ job: any StoreJob, in session: StoreSession) throws {
    do {
      session.wholeRuns = session.tail?.wholeRuns
      try session.connection.beginReading()
      try job.cancellation?.begin(on: session.connection)
      try CounterTable(session: session).followSchema()
      try job.run(in: session)
      job.cancellation?.end(on: session.connection)
      try session.connection.commit()
    } catch {
      let isGivenUp = job.cancellation?.end(on: session.connection) ?? false
      if session.connection.isInTransaction { try? session.connection.rollback() }
      throw isGivenUp ? CancellationError() : error
    }
  }
}
