import StoreModel

/// A thread that keeps a server present among those that share the store: it runs each job's
/// statements one by one, each a transaction of its own.
struct StorePresence {
  let queue: JobQueue

  /// Works until the queue is closed and empty.
  func work(over connection: StoreConnection) {
    while let jobs = queue.take(most: 1) {
      for job in jobs {
        do {
          do {
            try connection.engine.getReady()
            try job.run(in: StoreTransaction(over: connection))
          } catch let error as StoreError where error.code == .unreachable {
            // What was done halfway is right, and may be done once more.
            try connection.engine.getReady()
            try job.run(in: StoreTransaction(over: connection))
          }
          job.finish(nil)
        } catch {
          job.finish(error)
        }
      }
    }
  }
}
