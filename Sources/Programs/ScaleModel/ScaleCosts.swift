/// The work of one operation, without waiting.
public struct Cost: Sendable, Hashable {
  /// Processor seconds of a server. "Processor seconds" are seconds of one core.
  public var server: Double
  /// Processor seconds of PostgreSQL.
  public var database: Double
  /// Bytes of PostgreSQL's write-ahead log.
  public var logBytes: Double

  /// Creates the work of an operation.
  public init(server: Double = 0, database: Double = 0, logBytes: Double = 0) {
    (self.server, self.database, self.logBytes) = (server, database, logBytes)
  }

  static func + (one: Cost, other: Cost) -> Cost {
    Cost(
      server: one.server + other.server, database: one.database + other.database,
      logBytes: one.logBytes + other.logBytes)
  }

  static func * (count: Double, one: Cost) -> Cost {
    Cost(
      server: count * one.server, database: count * one.database, logBytes: count * one.logBytes)
  }
}

/// The costs of single operations. ``init(calibratedOn:)`` computes them from measurements.
/// ``ClusterSimulation`` explains the words of the model, such as holder and catch-up.
public struct ScaleCosts: Sendable, Hashable {
  /// A writer's transaction, whatever it has.
  public var transaction = Cost(server: 300e-6, database: 400e-6, logBytes: 1_000)
  /// A save, besides its transaction.
  public var save = Cost(server: 120e-6, database: 60e-6, logBytes: 2_000)
  /// A dispatched change with its first notification, besides its transaction.
  public var change = Cost(server: 150e-6, database: 120e-6, logBytes: 1_500)
  /// The work of a lease's holder for the changes of another server: the wake-up, and a transaction
  /// that reads the changes.
  public var catchUp = Cost(server: 500e-6, database: 500e-6)
  /// A notification of a change beyond the first.
  public var notification = Cost(server: 7e-6, database: 30e-6, logBytes: 700)
  /// A push in the transaction of its notification.
  public var push = Cost(database: 30e-6, logBytes: 350)
  /// The delivery of a push, and its recorded outcome. Nothing waits for it.
  public var delivery = Cost(server: 37e-6, database: 30e-6, logBytes: 350)
  /// The transaction that reads the caller: the user who sent a save.
  public var caller = Cost(server: 70e-6, database: 95e-6)
  /// Processor seconds of the load generator for a save, if it runs on the same machine.
  public var load = 0.0

  /// The fraction of a server's work for a save or a change that is done before it waits for a
  /// writer.
  public var preparedShare = 0.5
  /// The fraction of PostgreSQL's work for a transaction that is in the first round trip.
  public var readShare = 0.3

  /// Seconds of a round trip from a server to PostgreSQL.
  public var roundTrip = 30e-6
  /// Seconds of one flush of the log, which covers all commits that wait when it begins.
  public var flush = 200e-6
  /// Bytes of log that a shard's disk can write in a second.
  public var logBandwidth = 500e6
  /// Seconds from the commit of a change on one server until the holder begins to catch up.
  public var wakeUp = 0.005

  /// Bytes in the store for a saved record, when its change has been dispatched.
  public var storedBytes = 1_500.0
  /// Bytes in the store for a subscription.
  public var storedSubscriptionBytes = 400.0
  /// Bytes of memory for a subscription in a server's index.
  public var indexedSubscriptionBytes = 180.0
  /// Processor seconds of a server to read a subscription into an index.
  public var indexedSubscription = 3.3e-6

  /// The round trips of the transaction that reads the caller.
  static let callerRoundTrips = 4.0

  /// Creates the default costs.
  public init() {}

  /// Returns the work of a writer's transaction.
  func work(saves: Double, changes: Double, firings: Double, pushes: Double) -> Cost {
    var work =
      transaction + saves * save + changes * change + max(0, firings - changes) * notification
      + pushes * push
    work.server -= preparedShare * (saves * save.server + changes * change.server)
    return work
  }

  /// Returns the seconds for which a transaction that locks first has the lock of its rows, if it
  /// waits for no processor and no other flush: a round trip, its work, and its flush.
  func lockSeconds(_ work: Cost) -> Double {
    roundTrip + work.server + work.database + flush + work.logBytes / logBandwidth
  }
}
