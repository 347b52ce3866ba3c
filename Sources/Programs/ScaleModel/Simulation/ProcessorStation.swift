/// Processor cores that share one queue of jobs. A job longer than a slice returns to the end of
/// the queue after each slice, as under a fair scheduler. The simulation also models the read-only
/// connections of a server as a station, with one core for each connection.
///
/// The station has no clock. The code that uses the station adds the end of each returned ``Slice``
/// to an ``EventQueue``, and calls ``end(_:at:)`` at that time. All times are simulated seconds.
public struct ProcessorStation<Job> {
  /// A time slice of a job on a core. It has begun, and ends `seconds` later.
  public struct Slice {
    /// The number of the core, from 0. It identifies the slice for ``ProcessorStation/end(_:at:)``.
    public var number: Int
    /// The length of the slice in seconds.
    public var seconds: Double
  }

  /// A job with its remaining seconds, its arrival and the length of its current slice.
  private struct Work {
    var job: Job
    var left: Double
    var began: Double
    var slice = 0.0
  }

  /// The cores of the station.
  public let cores: Int
  /// Seconds that a job uses a core before the next job gets that core. If infinite, each job keeps
  /// its core to the end.
  public let slice: Double
  private var waiting = FirstInFirstOut<Work>()
  /// The jobs that have a core, by core.
  private var running: [Work?]
  /// The idle cores.
  private var free: [Int]

  /// Seconds that cores were busy, summed over all cores.
  public private(set) var busySeconds = 0.0
  /// The number of jobs in the station, integrated over time, in job seconds.
  public private(set) var jobSeconds = 0.0
  /// The number of finished jobs since measuring began.
  public private(set) var completed = 0
  /// Seconds that the finished jobs were in the station since measuring began, summed over these
  /// jobs.
  public private(set) var staySeconds = 0.0
  /// The time of the last update of the integrals.
  private var lastChange = 0.0
  /// The time when measuring began.
  private var since = 0.0

  /// Creates an idle station.
  public init(cores: Int, slice: Double = .infinity) {
    self.cores = cores
    self.slice = slice
    running = [Work?](repeating: nil, count: cores)
    free = Array((0..<cores).reversed())
  }

  /// Jobs in the station: those on a core and those that wait.
  public var count: Int { waiting.count + cores - free.count }

  /// Whether no core is idle.
  public var isFull: Bool { free.isEmpty }

  /// Resets the counters; the jobs stay.
  public mutating func beginMeasuring(at now: Double) {
    note(now)
    (busySeconds, jobSeconds, completed, staySeconds, since) = (0, 0, 0, 0, now)
  }

  /// Returns the fraction of the cores' time that was used since measuring began (0–1). The time
  /// after the last event of the station does not count as used.
  public func utilization(at now: Double) -> Double {
    busySeconds / max(1e-12, (now - since) * Double(cores))
  }

  /// Adds the time since the last change to the integrals.
  private mutating func note(_ now: Double) {
    jobSeconds += Double(count) * (now - lastChange)
    busySeconds += Double(cores - free.count) * (now - lastChange)
    lastChange = now
  }

  /// Adds a job that takes `seconds` of a core.
  ///
  /// - Returns: The slice that begins now; `nil` if all cores are busy.
  public mutating func add(_ job: Job, seconds: Double, at now: Double) -> Slice? {
    note(now)
    waiting.append(Work(job: job, left: seconds, began: now))
    return begin()
  }

  /// Ends a slice.
  ///
  /// - Parameter number: The value of ``Slice/number``.
  /// - Returns: The job, or `nil` if it needs further slices; and the slice that begins on the
  ///   freed core, or `nil` if no job waits.
  public mutating func end(_ number: Int, at now: Double) -> (done: Job?, next: Slice?) {
    note(now)
    guard var work = running[number] else { return (nil, nil) }
    running[number] = nil
    free.append(number)
    work.left -= work.slice
    guard work.left <= 1e-12 else {
      waiting.append(work)
      return (nil, begin())
    }
    // A job that arrived before the measurement counts only the time since the measurement began.
    completed += 1
    staySeconds += now - max(work.began, since)
    return (work.job, begin())
  }

  /// Starts the first waiting job on an idle core and returns its slice; `nil` if there is no idle
  /// core or no waiting job.
  private mutating func begin() -> Slice? {
    guard let core = free.last, var work = waiting.removeFirst() else { return nil }
    free.removeLast()
    work.slice = min(slice, work.left)
    running[core] = work
    return Slice(number: core, seconds: work.slice)
  }
}
