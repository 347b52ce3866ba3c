import Foundation

/// The input of a simulation: the load, its distribution over databases, and the machines.
/// ``ClusterSimulation`` explains the words of the model, such as lease and dispatch.
public struct ScaleScenario: Sendable {
  /// The arrival pattern of saves.
  public enum Arrivals: Sendable, Hashable {
    /// Independent arrivals: a Poisson process with a mean rate. All saves into a private database
    /// go to the same server, others to a random one.
    case random(perSecond: Double)
    /// Arrivals at an even rate, to one server after the other.
    case even(perSecond: Double)
    /// This number of clients, each with a connection to one server. A client sends its next save
    /// as soon as the previous one is answered.
    case clients(Int)
  }

  /// The arrival pattern of saves, with their rate.
  public var arrivals = Arrivals.random(perSecond: 1_000)
  /// Petrel servers.
  public var servers = 1
  /// Processor cores of a server.
  public var coresPerServer = 8
  /// Threads of a server that write, each with one connection.
  public var writersPerServer = 16
  /// Shards: PostgreSQL nodes over which the databases are spread. A transaction of several shards
  /// has saves of one database; that of a single PostgreSQL may have saves of several.
  public var shards = 1
  /// Processor cores of a shard.
  public var coresPerShard = 16
  /// Whether the servers, PostgreSQL and the load generator share the cores of one machine. That
  /// machine has ``coresPerServer`` cores.
  public var isOneMachine = false

  /// Users, each with one private database.
  public var users = 10_000_000
  /// Public databases. The n-th has 1/n of the first's saves and subscriptions.
  public var publicDatabases = 100
  /// The fraction of the saves that go into public databases (0–1).
  public var publicShare = 0.1
  /// Subscriptions in all databases.
  public var subscriptions = 100_000_000
  /// The fraction of the subscriptions that are in public databases (0–1).
  public var publicSubscriptionShare = 0.4
  /// Whether each save reads its caller first. A server does not if it has read the same caller
  /// within a second.
  public var readsCaller = true
  /// Whether the servers dispatch changes. Without dispatch there are no notifications.
  public var isDispatched = true
  /// Notifications of a save in a public database, on average. A save in a private one has one.
  public var publicFirings = 5.0
  /// Pushes of a notification, on average.
  public var pushes = 1.0

  /// Bytes of memory that a server may use for the indexes of subscriptions.
  public var indexBytes = 4.0 * 1024 * 1024 * 1024
  /// Jobs (saves and dispatched batches) in one transaction, at most.
  public var writesPerCommit = 512
  /// Waiting jobs that are left to a writer at work, which can do them in one transaction.
  public var fewJobs = 16
  /// Seconds after which a few jobs no longer wait for a writer at work.
  public var fewJobsSeconds = 0.005
  /// Transactions of a writer that lock first, after one had to be repeated.
  public var cautiousTransactions = 64
  /// The number of waiting jobs of one server at which the server refuses further saves.
  public var waitingWrites = 10_000
  /// Changes of a database that are dispatched together as one batch, at most.
  public var dispatchBatch = 1_024
  /// Notifications of a batch, at most.
  public var firingsOfBatch = 1_000
  /// Seconds without changes after which a server returns the lease of a private database.
  public var idleSeconds = 5.0
  /// Seconds for which a server's membership row is valid after each renewal. When the row expires,
  /// other servers take over the leases of that server.
  public var leaseSeconds = 5.0
  /// Seconds between two renewals of the membership row, and between two scans for expired rows of
  /// other servers.
  public var renewalSeconds = 1.7
  /// Seconds until PostgreSQL ends the transactions of a dead server and releases their locks.
  public var deadLockSeconds = 0.1

  /// Seconds that are simulated and measured, after the warm-up.
  public var seconds = 10.0
  /// Seconds that are simulated before measuring begins.
  public var warmUpSeconds = 2.0
  /// The time of the last server's death, in seconds from the beginning; `nil` if no server dies.
  /// It has no effect with one server.
  public var death: Double?
  /// The seed of the random numbers. Equal seeds give equal results.
  public var seed: UInt64 = 1

  /// Creates a scenario of one server and one shard at 1,000 saves a second.
  public init() {}

  /// For each public database, its share of the saves to all public databases, the busiest first.
  /// The sum is 1.
  var publicParts: [Double] {
    let weights = (0..<publicDatabases).map { 1 / Double($0 + 1) }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }

  /// Notifications of a save in a database, on average.
  func firings(of database: Int) -> Double { database < publicDatabases ? publicFirings : 1 }

  /// Saves a second over the whole cluster; NaN for ``Arrivals/clients(_:)``, whose rate results
  /// from the answers.
  public var rate: Double {
    switch arrivals {
    case .random(let rate), .even(let rate): rate
    case .clients: .nan
    }
  }
}
