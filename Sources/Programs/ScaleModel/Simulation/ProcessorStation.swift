/// Processor cores that share one queue of jobs. A job longer than a slice returns to the end of
/// the queue after each slice, as under a fair scheduler.
///
/// The station has no clock. The code that uses the station adds the end of each returned ``Slice``
/// to an ``EventQueue``, and calls ``end(_:at:)`` at that time. All times are simulated seconds.
struct ProcessorStation<Job> {
  /// A time slice of a job on a core. It has begun, and ends `seconds` later.
  struct Slice {
    /// The number of the core, from 0. It identifies the slice for ``ProcessorStation/end(_:at:)``.
    var number: Int
    var seconds: Double
  }

  /// A job with its remaining seconds.
  private struct Work {
    var job: Job
    var left: Double
    /// The length of the current slice.
    var slice = 0.0
  }

  private let slice: Double
  private var waiting = FirstInFirstOut<Work>()
  private var running: [Work?]
  private var free: [Int]
  /// Seconds that cores were busy, summed over all cores.
  private var busySeconds = 0.0
  /// The time up to which ``busySeconds`` counts.
  private var lastChange = 0.0
  private var since = 0.0

  /// Creates an idle station.
  ///
  /// - Parameter slice: Seconds that a job uses a core before the next job gets that core.
  init(cores: Int, slice: Double) {
    self.slice = slice
    running = [Work?](repeating: nil, count: cores)
    free = Array((0..<cores).reversed())
  }

  mutating func beginMeasuring(at now: Double) {
    note(now)
    (busySeconds, since) = (0, now)
  }

  /// Returns the fraction of the cores' time that was used since measuring began (0–1).
  mutating func utilization(at now: Double) -> Double {
    note(now)
    return busySeconds / ((now - since) * Double(running.count))
  }

  private mutating func note(_ now: Double) {
    busySeconds += Double(running.count - free.count) * (now - lastChange)
    lastChange = now
  }

  /// Adds a job that takes `seconds` of a core.
  ///
  /// - Returns: The slice that begins now; `nil` if all cores are busy.
  mutating func add(_ job: Job, seconds: Double, at now: Double) -> Slice? {
    note(now)
    waiting.append(Work(job: job, left: seconds))
    return begin()
  }

  /// Ends a slice.
  ///
  /// - Parameter number: The value of ``Slice/number``.
  /// - Returns: The job, or `nil` if it needs further slices; and the slice that begins on the
  ///   freed core, or `nil` if no job waits.
  mutating func end(_ number: Int, at now: Double) -> (done: Job?, next: Slice?) {
    note(now)
    guard var work = running[number] else { return (nil, nil) }
    running[number] = nil
    free.append(number)
    work.left -= work.slice
    guard work.left > 1e-12 else { return (work.job, begin()) }
    waiting.append(work)
    return (nil, begin())
  }

  /// `nil` if there is no idle core or no waiting job.
  private mutating func begin() -> Slice? {
    guard let core = free.last, var work = waiting.removeFirst() else { return nil }
    free.removeLast()
    work.slice = min(slice, work.left)
    running[core] = work
    return Slice(number: core, seconds: work.slice)
  }
}
