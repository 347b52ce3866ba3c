import Foundation

/// The input of a simulation: the load, its distribution over databases, and the machines.
/// ``ClusterSimulation`` explains the words of the model, such as lease and dispatch.
public struct ScaleScenario: Sendable {
  /// The arrival pattern of saves.
  public enum Arrivals: Sendable, Hashable {
    /// Independent arrivals: a Poisson process with a mean rate.
    case random(perSecond: Double)
    /// Arrivals at an even rate, spread over lines. A line is a sender with at most one unanswered
    /// save: it sends its next save only after the answer to the previous one. The delay of a late
    /// save counts from the time when the line sends it.
    case even(perSecond: Double, lines: Int)
    /// This number of clients. Each of them sends its next save as soon as the previous one is
    /// answered.
    case clients(Int)
  }

  /// The death of the last server, the one with the highest number.
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
  /// Whether the servers, PostgreSQL and the load generator share the cores of one machine. That
  /// machine has ``coresPerServer`` cores.
  public var isOneMachine = false

  /// Users, each with one private database.
  public var users = 10_000_000
  /// Public databases, one for each container.
  public var publicDatabases = 100
  /// The fraction of the saves that go into public databases (0–1).
  public var publicShare = 0.1
  /// The exponent of the Zipf distribution of saves over public databases; 0 spreads them evenly.
  public var publicSkew = 1.0
  /// Subscriptions in all databases.
  public var subscriptions = 100_000_000
  /// The fraction of the subscriptions that are in public databases (0–1). They are distributed
  /// over these databases like the saves.
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
  /// Pushes of one server that may wait for the answer of APNs at the same time. Further pushes
  /// wait before they are sent.
  public var openPushes = 10_000

  /// Bytes of memory that a server may use for the indexes of subscriptions.
  public var indexBytes = 4.0 * 1024 * 1024 * 1024
  /// Whether all saves into a private database go to the same server until that server dies. Saves
  /// into public databases go to a random server. For even arrivals and clients, the property does
  /// not decide about the server, but it still changes ``warmShare(_:)``.
  public var isSticky = true

  /// Whether saves into several databases may share a transaction. Such a transaction locks the
  /// rows of all its databases until its commit. If databases lie on several shards, a transaction
  /// should have only one database.
  public var mixesDatabases = false
  /// Saves and dispatched batches in one transaction, at most.
  public var writesPerCommit = 512
  /// The number of waiting writes of one server at which the server refuses further saves. A
  /// waiting write is a save or a dispatched batch that waits for a writer.
  public var waitingWrites = 10_000
  /// Changes of a database that are dispatched together as one batch, at most.
  public var dispatchBatch = 256
  /// Read-only connections of a server.
  public var readersPerServer = 2
  /// Seconds without changes after which a server returns the lease of a private database.
  public var idleSeconds = 5.0
  /// Seconds for which a server's membership row is valid after each renewal. When the row expires,
  /// other servers take over the leases of that server.
  public var leaseSeconds = 5.0
  /// Seconds between two renewals of the membership row, and between two scans for expired rows of
  /// other servers.
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

  /// Returns the bytes of the subscription indexes of all databases together.
  func indexBytes(_ costs: ScaleCosts) -> Double {
    Double(subscriptions) * costs.indexedSubscriptionBytes
  }

  /// Returns the fraction of private databases that are dispatched with an index already in memory
  /// (0–1). The result is 1 if the memory of all servers together is large enough for all indexes.
  /// Public indexes have priority. Without ``isSticky``, each server needs all private indexes.
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

  /// Returns the number of subscriptions of a database. For a private database, the number is the
  /// average of all private ones.
  ///
  /// - Parameters:
  ///   - database: The number of the database; public databases have the lowest numbers.
  ///   - parts: The value of ``publicParts``. It may be empty for a private database.
  func subscriptions(of database: Int, parts: [Double]) -> Double {
    database < publicDatabases
      ? Double(subscriptions) * publicSubscriptionShare * parts[database]
      : Double(subscriptions) * (1 - publicSubscriptionShare) / Double(max(1, users))
  }

  /// The fraction of the changes that one server saves while another server has the database's
  /// lease (0–1).
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

  /// Sets the saves a second. ``Arrivals/clients(_:)`` have no rate, so random arrivals replace
  /// them.
  public mutating func setRate(_ rate: Double) {
    arrivals =
      switch arrivals {
      case .even(_, let lines): .even(perSecond: rate, lines: lines)
      case .random, .clients: .random(perSecond: rate)
      }
  }
}
