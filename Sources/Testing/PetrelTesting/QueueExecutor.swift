import Dispatch

/// Runs tasks on a serial queue of its own.
///
/// Code under test may block every thread of Swift's pool while it waits for an operation: the cloud
/// must answer all the same. A serial queue gets a thread even then.
final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "PetrelTesting")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
