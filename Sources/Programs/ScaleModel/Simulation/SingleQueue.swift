import Foundation

/// A queue with one server, for tests of ``EventQueue``, ``ProcessorStation`` and ``SeededRandom``.
/// Queueing theory gives its exact mean values, so the simulation can be compared with them.
public struct SingleQueue: Sendable {
  /// The distribution of service times.
  public enum Service: Sendable {
    /// Exponential service times: the queue is M/M/1.
    case exponential
    /// Constant service times: the queue is M/D/1.
    case constant
  }

  /// The simulated mean values.
  public struct Result: Sendable {
    /// Jobs in the system, waiting or in service, on average.
    public var jobs: Double
    /// Seconds that a job is in the system, on average.
    public var stay: Double
    /// The fraction of the time in which the server was busy (0–1).
    public var utilization: Double
    /// Jobs that left the system in a second.
    public var throughput: Double
  }

  /// Arrivals a second, with exponential times between them.
  public var arrivals: Double
  /// Mean seconds of service for a job.
  public var serviceSeconds: Double
  /// The distribution of service times.
  public var service: Service
  /// The seed of the random numbers.
  public var seed: UInt64

  /// Creates a queue.
  public init(arrivals: Double, serviceSeconds: Double, service: Service, seed: UInt64 = 1) {
    self.arrivals = arrivals
    self.serviceSeconds = serviceSeconds
    self.service = service
    self.seed = seed
  }

  /// An arrival, or the end of a job's service.
  private enum Event {
    case arrival
    case sliceEnds(Int)
  }

  /// Simulates `jobs` arrivals, after a warm-up with a tenth of that number.
  public func simulate(jobs: Int) -> Result {
    var random = SeededRandom(seed: seed)
    var queue = EventQueue<Event>()
    var station = ProcessorStation<Int>(cores: 1)
    var (now, begin, arrived) = (0.0, 0.0, 0)
    queue.add(.arrival, at: 0)
    while let (time, event) = queue.removeFirst() {
      now = time
      switch event {
      case .arrival:
        if arrived == jobs / 10 {
          begin = now
          station.beginMeasuring(at: now)
        }
        arrived += 1
        let seconds =
          switch service {
          case .exponential: random.exponential(mean: serviceSeconds)
          case .constant: serviceSeconds
          }
        if let slice = station.add(arrived, seconds: seconds, at: now) {
          queue.add(.sliceEnds(slice.number), at: now + slice.seconds)
        }
        guard arrived < jobs + jobs / 10 else {
          let seconds = now - begin
          return Result(
            jobs: station.jobSeconds / seconds,
            stay: station.staySeconds / Double(max(1, station.completed)),
            utilization: station.utilization(at: now),
            throughput: Double(station.completed) / seconds)
        }
        queue.add(.arrival, at: now + random.exponential(mean: 1 / arrivals))
      case .sliceEnds(let number):
        if let slice = station.end(number, at: now).next {
          queue.add(.sliceEnds(slice.number), at: now + slice.seconds)
        }
      }
    }
    return Result(jobs: .nan, stay: .nan, utilization: .nan, throughput: .nan)
  }

  /// The expected fraction of the time in which the server is busy. The queue is stable only if the
  /// value is below 1.
  public var utilization: Double { arrivals * serviceSeconds }

  /// The expected number of jobs in the system, where ρ is the utilization. M/M/1 has ρ / (1 - ρ),
  /// M/D/1 has ρ + ρ² / (2 (1 - ρ)) (Kleinrock, "Queueing Systems", volume 1).
  public var expectedJobs: Double {
    let load = utilization
    return switch service {
    case .exponential: load / (1 - load)
    case .constant: load + load * load / (2 * (1 - load))
    }
  }
}
