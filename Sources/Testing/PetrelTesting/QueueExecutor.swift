import Dispatch

/// The task executor that runs the cloud's tasks on a serial queue of its own.
///
/// Code under test may wait for an operation and block every thread of Swift's pool. The cloud must
/// also answer such code, and a serial queue gets a thread even then.
final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "PetrelTesting")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
