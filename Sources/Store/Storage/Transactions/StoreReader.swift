import StoreModel
import Synchronization

/// A reading thread: it runs each job in a transaction with one snapshot of the store.
struct StoreReader {
  let queue: JobQueue
  /// For metrics. The thread that fills the search cache has a tally of its own, which no metric
  /// shows.
  var tally = ReadTally()

  /// Ends when the queue is closed and empty. A job that was cancelled while it waited is finished
  /// with `CancellationError`. A job that fails because the connection was lost is run once more.
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

  /// A job may run outside of a transaction (``StoreJob/isOutsideTransactions``). If the catalog
  /// version has changed, a transaction first clears the cached schemas.
  ///
  /// - Throws: `CancellationError` if the job was cancelled while it ran; otherwise the job's
  ///   error, after a rollback.
  private func run(_ job: any StoreJob, over connection: StoreConnection) throws {
    let engine = connection.engine
    do {
      let transaction = StoreTransaction(
        over: connection, wholeRuns: connection.caches.tail?.wholeRuns)
      guard !job.isOutsideTransactions else {
        try engine.getReady()
        try job.cancellation?.begin(on: engine)
        try job.run(in: transaction)
        job.cancellation?.end(on: engine)
        return
      }
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

/// Metrics of reads. All values are atomic, so that readers do not wait for each other.
final class ReadTally: Sendable {
  private let isUnreachable = Atomic(false)
  private let waiting = Atomic(0)
  private let running = Atomic(0)

  /// Reads that had not begun, and those that were interrupted.
  var abandoned: (waiting: Int, running: Int) {
    (waiting.load(ordering: .relaxed), running.load(ordering: .relaxed))
  }

  var foundNoStore: Bool { isUnreachable.load(ordering: .relaxed) }

  /// Every read calls this method, so it writes only if the value changes.
  func note(_ failure: (any Error)?) {
    let isLost = (failure as? StoreError)?.code == .unreachable
    if isUnreachable.load(ordering: .relaxed) != isLost {
      isUnreachable.store(isLost, ordering: .relaxed)
    }
  }

  func countWaiting() { waiting.add(1, ordering: .relaxed) }
  func countRunning() { running.add(1, ordering: .relaxed) }
}
