import ChangeDispatch
import Concurrency
import DatabaseAPI
import Logging
import Storage

extension BackgroundWork {
  /// All that a service does by itself. The parts that send and dispatch end after the rest.
  convenience init(
    membership: ServerMembership?, worker: DeliveryWorker, dispatcher: Dispatcher,
    courier: WebCourier,
    retention: Retention, indexes: IndexBuilder, deletions: UserDeleter, census: ShareCensus,
    log: ServerLog
  ) {
    func failing(_ sentence: String) -> @Sendable (any Error) -> Void {
      { log.error(sentence, ["cause": .string("\($0)")]) }
    }
    let minute = Duration.seconds(60)
    var entries: [Entry] = []
    if let membership {
      // The dispatcher starts it.
      entries.append(.part(membership.job, stop: { await membership.stop() }))
    }
    entries += [
      .part(worker.sending, start: { worker.start() }, stop: { await worker.stop() }),
      // The worker's other task.
      .part(worker.recording),
      .part(dispatcher.job, start: { dispatcher.start() }, stop: { await dispatcher.stop() }),
      // It ends with the courier.
      .part(courier.job),
      .repeated(
        BackgroundJob("retention", of: "Storage", "every hour, and after 10,000 notifications"),
        every: RetentionSchedule.step, isDue: { retention.isDue }, afterFailure: minute,
        report: failing("old notifications could not be deleted"),
        step: {
          try await retention.pass()
          return nil
        }),
      .repeated(
        BackgroundJob("index building", of: "Storage", "every second, after changes of schemas"),
        every: IndexBuilder.idleTime, afterFailure: minute,
        report: failing("an index could not be built; the server tries again in a minute"),
        step: { try await indexes.step() }),
      .repeated(
        BackgroundJob("user deletion", of: "Storage", "every second, after users were deleted"),
        every: UserDeleter.idleTime, afterFailure: minute,
        report: failing("the deletion of a user failed; the server tries again in a minute"),
        step: { try await deletions.step() }),
      .repeated(
        BackgroundJob(
          "share counting", of: "Storage", "every minute, or less often if it takes long"),
        every: ShareCensus.pause, afterFailure: minute,
        report: failing("shares cannot be counted for metrics"),
        step: { try await census.count() }),
    ]
    self.init(entries)
  }
}
