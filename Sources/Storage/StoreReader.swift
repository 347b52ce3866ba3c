/// A thread that reads: it runs each job in a transaction that sees one state of the store.
struct StoreReader {
  let queue: JobQueue

  /// Works until the queue is closed and empty.
  func work(in session: StoreSession) {
    while let jobs = queue.take(most: 1) {
      for job in jobs {
        do {
          do {
            try run(job, in: session)
          } catch let error as StoreError where error.code == .unreachable {
            // It changes nothing, and the next connection may be a good one.
            try run(job, in: session)
          }
          job.finish(nil)
        } catch {
          job.finish(error)
        }
      }
    }
  }

  private func run(_ job: any StoreJob, in session: StoreSession) throws {
    do {
      session.wholeRuns = session.tail?.wholeRuns
      try session.connection.beginReading()
      try session.followSchema()
      try job.run(in: session)
      try session.connection.commit()
    } catch {
      if session.connection.isInTransaction { try? session.connection.rollback() }
      throw error
    }
  }
}
