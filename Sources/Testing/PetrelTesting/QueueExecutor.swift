import Dispatch

/// An executor that runs the cloud's tasks on a serial queue of its own.
///
/// Code under test may block every thread of Swift's pool while it waits for an operation. The
/// cloud must answer it all the same, and a serial queue gets a thread even then.
final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "PetrelTesting")

  /// Runs a job on the queue, after the jobs before.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
