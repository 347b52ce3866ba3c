import Foundation

/// The input of a simulation: the load, its distribution over databases, and the machines.
public struct ScaleScenario: Sendable {
  /// The arrival pattern of saves.
  public enum Arrivals: Sendable, Hashable {
    /// Independent arrivals: a Poisson process with a mean rate.
    case random(perSecond: Double)
    /// Arrivals at an even rate, spread over lines. A line is a sender with at most one unanswered
    /// save: it sends its next save only after the answer to the previous one. The delay of a late
    /// save counts from the time when the line sends it.
    case even(perSecond: Double, lines: Int)
    /// Clients that each save again as soon as they have the answer.
    case clients(Int)
  }

  /// The death of the last server.
  public struct Death: Sendable, Hashable {
    /// Seconds from the beginning of the simulation, warm-up included.
    public var second: Double
    /// Seconds until PostgreSQL ends the transactions of the dead server and releases their locks.
    public var lockSeconds = 0.1

    /// Creates a death at `second`.
    public init(second: Double, lockSeconds: Double = 0.1) {
      self.second = second
      self.lockSeconds = lockSeconds
    }
  }

  /// The arrival pattern of saves, with their rate.
  public var arrivals = Arrivals.random(perSecond: 1_000)
  /// Petrel servers.
  public var servers = 1
  /// Processor cores of a server.
  public var coresPerServer = 8
  /// Threads of a server that write, each with one connection.
  public var writersPerServer = 16
  /// Shards: PostgreSQL nodes over which the databases are spread.
  public var shards = 1
  /// Processor cores of a shard.
  public var coresPerShard = 16
  /// Whether the servers, PostgreSQL and the load share the cores of one machine. That machine has
  /// ``coresPerServer`` cores.
  public var isOneMachine = false

  /// Users, each with one private database.
  public var users = 10_000_000
  /// Public databases, one for each container.
  public var publicDatabases = 100
  /// The fraction of the saves into public databases (0–1).
  public var publicShare = 0.1
  /// The exponent of the Zipf distribution of saves over public databases; 0 spreads them evenly.
  public var publicSkew = 1.0
  /// Subscriptions in all databases.
  public var subscriptions = 100_000_000
  /// The fraction of the subscriptions in public databases, distributed like the saves (0–1).
  public var publicSubscriptionShare = 0.4
  /// Whether the servers dispatch changes. Without dispatch there are no notifications.
  public var isDispatched = true
  /// Notifications of a save in a private database, on average.
  public var privateFirings = 1.0
  /// Notifications of a save in a public database, on average.
  public var publicFirings = 5.0
  /// Pushes of a notification, on average.
  public var pushes = 1.0
  /// Seconds until APNs answers a push.
  public var pushRoundTrip = 0.1
  /// Pushes that one server may have open; further pushes wait.
  public var openPushes = 10_000

  /// Bytes of memory that a server may use for indexes.
  public var indexBytes = 4.0 * 1024 * 1024 * 1024
  /// Whether all saves into a private database go to the same server while that server lives. Saves
  /// into public databases go to a random server. The property applies to
  /// ``Arrivals/random(perSecond:)``.
  public var isSticky = true

  /// Whether saves of several databases share a transaction. Such a transaction locks the rows of
  /// all its databases until its commit. If databases lie on several shards, a transaction should
  /// have only one database.
  public var mixesDatabases = false
  /// Writes in one commit, at most.
  public var writesPerCommit = 512
  /// Writes that wait for the writers of one server, at most. The server refuses further saves.
  public var waitingWrites = 10_000
  /// Changes of a database that are dispatched together, at most.
  public var dispatchBatch = 256
  /// Read-only connections of a server.
  public var readersPerServer = 2
  /// Seconds after which a server returns the lease of an idle private database.
  public var idleSeconds = 5.0
  /// Seconds for which a server's membership row is valid after each renewal.
  public var leaseSeconds = 5.0
  /// Seconds between two renewals, and between two scans for expired members.
  public var renewalSeconds = 1.5

  /// Seconds that are simulated and measured, after the warm-up.
  public var seconds = 10.0
  /// Seconds that are simulated before measuring begins.
  public var warmUpSeconds = 2.0
  /// The death of the last server; `nil` for none. It has no effect with one server.
  public var death: Death?
  /// The seed of the random numbers. Equal seeds give equal results.
  public var seed: UInt64 = 1

  /// Creates a scenario of one server and one shard at 1,000 saves a second.
  public init() {}

  /// Returns the bytes of all indexes together.
  func indexBytes(_ costs: ScaleCosts) -> Double {
    Double(subscriptions) * costs.indexedSubscriptionBytes
  }

  /// Returns the fraction of private databases whose index is in the memory of the server that
  /// dispatches them (0–1). It is 1 if the memory of all servers together suffices. Public indexes
  /// have priority. Without ``isSticky``, each server needs all private indexes.
  public func warmShare(_ costs: ScaleCosts) -> Double {
    let privateBytes = indexBytes(costs) * (1 - publicSubscriptionShare)
    let publicBytes = indexBytes(costs) - privateBytes
    let room = max(0, Double(servers) * indexBytes - publicBytes)
    // Without sticky users, each server dispatches every private database at some time.
    let wanted = privateBytes * (isSticky ? 1 : Double(servers))
    return wanted > 0 ? min(1, room / wanted) : 1
  }

  /// For each public database, its share of the saves to all public databases, the busiest first.
  /// The sum is 1.
  public var publicParts: [Double] {
    let weights = (0..<publicDatabases).map { pow(Double($0 + 1), -publicSkew) }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }

  /// Returns the subscriptions of a database, on average for private ones.
  ///
  /// - Parameters:
  ///   - database: The number of the database; public databases have the lowest numbers.
  ///   - parts: The value of ``publicParts``, used for public databases only.
  func subscriptions(of database: Int, parts: [Double]) -> Double {
    database < publicDatabases
      ? Double(subscriptions) * publicSubscriptionShare * parts[database]
      : Double(subscriptions) * (1 - publicSubscriptionShare) / Double(max(1, users))
  }

  /// The fraction of the changes that one server saves while another server holds the lease (0–1).
  public var foreignShare: Double {
    let others = 1 - 1 / Double(servers)
    if case .random = arrivals, isSticky { return publicShare * others }
    return others
  }

  /// Saves a second over the whole cluster; NaN for ``Arrivals/clients(_:)``, whose rate results
  /// from the answers.
  public var rate: Double {
    switch arrivals {
    case .random(let rate), .even(let rate, _): rate
    case .clients: .nan
    }
  }

  /// Sets the saves a second. Clients become random arrivals.
  public mutating func setRate(_ rate: Double) {
    arrivals =
      switch arrivals {
      case .even(_, let lines): .even(perSecond: rate, lines: lines)
      case .random, .clients: .random(perSecond: rate)
      }
  }
}
