import Foundation

/// What is simulated: who saves how much where, on which machines.
public struct ScaleScenario: Sendable {
  /// How saves come.
  public enum Arrivals: Sendable, Hashable {
    /// So many a second, without regard to each other.
    case random(perSecond: Double)
    /// So many a second, evenly, over so many lines of which each waits for the answer before.
    case even(perSecond: Double, lines: Int)
    /// From so many clients, each of which saves again when it has its answer.
    case clients(Int)
  }

  /// A server that dies.
  public struct Death: Sendable, Hashable {
    /// When, in seconds from the beginning.
    public var second: Double
    /// Until PostgreSQL has ended the transactions of the dead server.
    public var lockSeconds = 0.1

    public init(second: Double, lockSeconds: Double = 0.1) {
      self.second = second
      self.lockSeconds = lockSeconds
    }
  }

  public var arrivals = Arrivals.random(perSecond: 1_000)
  public var servers = 1
  public var coresPerServer = 8
  /// Threads of a server that write, each with a connection.
  public var writersPerServer = 16
  public var shards = 1
  public var coresPerShard = 16
  /// Whether servers, PostgreSQL and the load share the cores of one machine, of which there are
  /// ``coresPerServer``.
  public var isOneMachine = false

  /// Private databases, each of a user.
  public var users = 10_000_000
  public var publicDatabases = 100
  /// The part of the saves that goes to public databases, and how unevenly: the exponent of a Zipf
  /// distribution over them.
  public var publicShare = 0.1
  public var publicSkew = 1.0
  public var subscriptions = 100_000_000
  /// The part of the subscriptions that is in public databases, spread as the saves are.
  public var publicSubscriptionShare = 0.4
  /// Whether saves are dispatched at all.
  public var isDispatched = true
  /// Notifications of a save in a private and in a public database, and pushes of a notification.
  public var privateFirings = 1.0
  public var publicFirings = 5.0
  public var pushes = 1.0
  /// Seconds until APNs has answered a push, and pushes of a server that may be open.
  public var pushRoundTrip = 0.1
  public var openPushes = 10_000

  /// Bytes of memory that a server has for indexes.
  public var indexBytes = 4.0 * 1024 * 1024 * 1024
  /// Whether a user's saves come to the same server as long as it lives.
  public var isSticky = true

  /// Whether saves of several databases share a transaction. It holds the rows of all of them as long as
  /// it takes; and where databases lie on several shards each transaction is to have one database only.
  public var mixesDatabases = false
  /// Writes that share a commit at most, that wait for a server's writers at most, and changes that are
  /// dispatched together at most.
  public var writesPerCommit = 512
  public var waitingWrites = 10_000
  public var dispatchBatch = 256
  /// Connections of a server that only read.
  public var readersPerServer = 2
  /// Seconds for which a server keeps the lease of a database in which nothing happens.
  public var idleSeconds = 5.0
  /// Seconds that a server's row is good, between two renewals, and between two looks for rows that are
  /// not any more.
  public var leaseSeconds = 5.0
  public var renewalSeconds = 1.5

  /// Seconds that are simulated and measured, after some that are not.
  public var seconds = 10.0
  public var warmUpSeconds = 2.0
  public var death: Death?
  public var seed: UInt64 = 1

  public init() {}

  /// Bytes that all indexes take.
  func indexBytes(_ costs: ScaleCosts) -> Double {
    Double(subscriptions) * costs.indexedSubscriptionBytes
  }

  /// The part of the dispatched private databases whose index is in the memory of the server that
  /// dispatches: all where there is room for them, a part where there is not.
  public func warmShare(_ costs: ScaleCosts) -> Double {
    let privateBytes = indexBytes(costs) * (1 - publicSubscriptionShare)
    let publicBytes = indexBytes(costs) - privateBytes
    let room = max(0, Double(servers) * indexBytes - publicBytes)
    // Where users come to any server, each of them sees all databases.
    let wanted = privateBytes * (isSticky ? 1 : Double(servers))
    return wanted > 0 ? min(1, room / wanted) : 1
  }

  /// The parts of the public saves that go to each of the public databases, the busiest first.
  public var publicParts: [Double] {
    let weights = (0..<publicDatabases).map { pow(Double($0 + 1), -publicSkew) }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }

  /// The subscriptions of a database.
  func subscriptions(of database: Int, parts: [Double]) -> Double {
    database < publicDatabases
      ? Double(subscriptions) * publicSubscriptionShare * parts[database]
      : Double(subscriptions) * (1 - publicSubscriptionShare) / Double(max(1, users))
  }

  /// The part of the changes that another server saves than the one that dispatches them.
  public var foreignShare: Double {
    let others = 1 - 1 / Double(servers)
    if case .random = arrivals, isSticky { return publicShare * others }
    return others
  }

  /// Saves a second that come; NaN where the answers set the pace.
  public var rate: Double {
    switch arrivals {
    case .random(let rate), .even(let rate, _): rate
    case .clients: .nan
    }
  }

  public mutating func setRate(_ rate: Double) {
    arrivals =
      switch arrivals {
      case .even(_, let lines): .even(perSecond: rate, lines: lines)
      case .random, .clients: .random(perSecond: rate)
      }
  }
}
