import Foundation

/// One queue before one core: what the parts of the simulation are checked with, for its answer is known.
public struct SingleQueue: Sendable {
  /// How long jobs take.
  public enum Service: Sendable {
    /// By an exponential distribution: the queue is M/M/1.
    case exponential
    /// All as long: M/D/1.
    case constant
  }

  /// What was found, and what must be.
  public struct Result: Sendable {
    /// Jobs in the system, waiting or not, in the mean.
    public var jobs: Double
    /// The seconds that a job is there, in the mean.
    public var stay: Double
    public var utilization: Double
    /// Jobs that left in a second.
    public var throughput: Double
  }

  public var arrivals: Double
  public var serviceSeconds: Double
  public var service: Service
  public var seed: UInt64

  public init(arrivals: Double, serviceSeconds: Double, service: Service, seed: UInt64 = 1) {
    self.arrivals = arrivals
    self.serviceSeconds = serviceSeconds
    self.service = service
    self.seed = seed
  }

  private enum Event {
    case arrival
    case sliceEnds(Int)
  }

  /// Simulates so many arrivals, after a tenth as many that do not count.
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

  /// The part of its time that the core works.
  public var utilization: Double { arrivals * serviceSeconds }

  /// The jobs in the system by queueing theory (Kleinrock, "Queueing Systems", volume 1): of M/M/1
  /// ρ / (1 - ρ), of M/D/1 ρ + ρ² / 2(1 - ρ).
  public var expectedJobs: Double {
    let load = utilization
    return switch service {
    case .exponential: load / (1 - load)
    case .constant: load + load * load / (2 * (1 - load))
    }
  }
}
