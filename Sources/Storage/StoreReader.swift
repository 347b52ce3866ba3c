/// A thread that reads: it runs each job in a transaction that sees one state of the store.
struct StoreReader {
  let queue: JobQueue

  /// Works until the queue is closed and empty.
  func work(in session: StoreSession) {
    while let jobs = queue.take(most: 1) {
      for job in jobs {
        do {
          session.wholeRuns = session.tail?.wholeRuns
          try session.connection.beginReading()
          try session.followSchema()
          try job.run(in: session)
          try session.connection.commit()
          job.finish(nil)
        } catch {
          if session.connection.isInTransaction { try? session.connection.rollback() }
          job.finish(error)
        }
      }
    }
  }
}
