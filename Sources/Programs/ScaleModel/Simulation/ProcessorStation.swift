/// Some processor cores that share one queue. Work that takes longer than a slice goes back to the end of
/// the queue after each, as under a scheduler that is fair.
///
/// The station decides; who uses it adds its slices to an ``EventQueue`` and tells when they end.
public struct ProcessorStation<Job> {
  /// That a slice of work has been begun, and ends so many seconds later.
  public struct Slice {
    public var number: Int
    public var seconds: Double
  }

  private struct Work {
    var job: Job
    var left: Double
    var began: Double
    var slice = 0.0
  }

  public let cores: Int
  /// Seconds that work has a core for before others come; infinite for first come, first served.
  public let slice: Double
  private var waiting = FirstInFirstOut<Work>()
  private var running: [Work?]
  private var free: [Int]

  /// Seconds that cores were busy, over all of them.
  public private(set) var busySeconds = 0.0
  /// The integral of the number of jobs here over time.
  public private(set) var jobSeconds = 0.0
  /// Jobs that were done, and the seconds that they were here.
  public private(set) var completed = 0
  public private(set) var staySeconds = 0.0
  private var lastChange = 0.0
  private var since = 0.0

  public init(cores: Int, slice: Double = .infinity) {
    self.cores = cores
    self.slice = slice
    running = [Work?](repeating: nil, count: cores)
    free = Array((0..<cores).reversed())
  }

  /// Jobs that are here, those that wait among them.
  public var count: Int { waiting.count + cores - free.count }

  /// Whether no core is idle.
  public var isFull: Bool { free.isEmpty }

  /// Forgets what was measured until now.
  public mutating func beginMeasuring(at now: Double) {
    note(now)
    (busySeconds, jobSeconds, completed, staySeconds, since) = (0, 0, 0, 0, now)
  }

  /// The part of the cores' time that was used since measuring began.
  public func utilization(at now: Double) -> Double {
    busySeconds / max(1e-12, (now - since) * Double(cores))
  }

  private mutating func note(_ now: Double) {
    jobSeconds += Double(count) * (now - lastChange)
    busySeconds += Double(cores - free.count) * (now - lastChange)
    lastChange = now
  }

  /// Adds a job that takes so many seconds of a core; answers the slice that begins with it.
  public mutating func add(_ job: Job, seconds: Double, at now: Double) -> Slice? {
    note(now)
    waiting.append(Work(job: job, left: seconds, began: now))
    return begin()
  }

  /// Ends a slice; answers the job if it is done, and the slice that begins in its place.
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
    // A job that came before measuring began counts with the part since then.
    completed += 1
    staySeconds += now - max(work.began, since)
    return (work.job, begin())
  }

  private mutating func begin() -> Slice? {
    guard let core = free.last, var work = waiting.removeFirst() else { return nil }
    free.removeLast()
    work.slice = min(slice, work.left)
    running[core] = work
    return Slice(number: core, seconds: work.slice)
  }
}
