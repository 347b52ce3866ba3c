/// The costs of single operations, in seconds and bytes.
///
/// ``init()`` gives costs of a usual machine; ``init(calibratedOn:)`` computes them from
/// measurements. "Processor seconds" are seconds of one core.
public struct ScaleCosts: Sendable, Hashable {
  /// The statements of a transaction: a fixed number, plus a number for each save and each
  /// dispatched change.
  public struct Statements: Sendable, Hashable {
    /// Statements of every transaction, begin and commit included.
    public var transaction = 4.0
    /// Further statements for each save.
    public var save = 10.0
    /// Further statements for each dispatched change.
    public var dispatch = 8.0

    /// Creates a count; the defaults are those of the store.
    public init(transaction: Double = 4, save: Double = 10, dispatch: Double = 8) {
      self.transaction = transaction
      self.save = save
      self.dispatch = dispatch
    }

    /// The round trips of the store's transactions, counted in its source. A transaction has the
    /// begin with its locks, and the commit. A save has its reads and the allocation of numbers. A
    /// dispatched change has its reads.
    public static let roundTripsAsBuilt = Statements(transaction: 2, save: 4, dispatch: 6)

    /// Returns the statements of a transaction with so many saves and dispatched changes.
    func count(saves: Double, changes: Double) -> Double {
      transaction + save * saves + dispatch * changes
    }
  }

  /// The statements of the writers' transactions.
  public var statements = Statements()
  /// The round trips of a transaction that sends some statements without waiting for the answer
  /// before. If `nil`, each statement is one round trip.
  public var roundTrips: Statements?

  /// Statements of the read-only transaction before a save, which identifies the caller. Counted in
  /// the store's source; calibration subtracts them from the statements of a save.
  public var requestReads = 4.0
  /// Statements of the read-only transaction before a dispatch, which finds the waiting changes.
  /// Calibration subtracts them from the statements of a change.
  public var dispatchReads = 4.0
  /// Further statements, on both sides, for a change that a server saves while another server holds
  /// the lease. They leave the wake-up, send and receive the notification, and find the change in
  /// the outbox.
  public var notificationStatements = 9.0

  /// Processor seconds of a server to parse, check and answer a save.
  public var request = 60e-6
  /// Processor seconds of a server for each statement.
  public var serverStatement = 10e-6
  /// Processor seconds of a server to match a change and to write its first notification to the
  /// log.
  public var change = 60e-6
  /// Processor seconds of a server for each notification of a change beyond the first.
  public var furtherNotification = 7e-6
  /// Processor seconds of a server for a push, from the queue to the recorded outcome.
  public var push = 37e-6
  /// Processor seconds of the load for each save, if the load runs on the same machine.
  public var load = 0.0

  /// Processor seconds of PostgreSQL for each statement.
  public var databaseStatement = 25e-6
  /// Processor seconds of PostgreSQL for each commit.
  public var databaseCommit = 50e-6
  /// Processor seconds of PostgreSQL for each notification of a change beyond the first.
  public var databaseFurtherNotification = 30e-6
  /// Processor seconds of PostgreSQL for each push: its row and the deletion of that row.
  public var databasePush = 60e-6

  /// Further processor seconds of a server for each statement that finds an idle core. The thread
  /// sleeps and must be woken; under full load no thread sleeps.
  public var serverWaking = 0.0
  /// Further processor seconds of PostgreSQL for each statement that finds an idle core.
  public var databaseWaking = 0.0

  /// Seconds of a round trip from a server to PostgreSQL.
  public var roundTrip = 30e-6
  /// Seconds of one flush of PostgreSQL's log, which covers all commits that wait when it begins.
  public var flush = 200e-6
  /// Seconds until the holder of a lease receives the wake-up for a change of another server and
  /// has read the change from the outbox.
  public var wakeUp = 0.08
  /// Bytes of log for each commit.
  public var commitLogBytes = 300.0
  /// Bytes of log for each save.
  public var saveLogBytes = 3_000.0
  /// Bytes of log for each dispatched change.
  public var dispatchLogBytes = 1_500.0
  /// Bytes of log for each notification of a change beyond the first.
  public var furtherNotificationLogBytes = 700.0
  /// Bytes of log for each push.
  public var pushLogBytes = 700.0
  /// Bytes of log that a shard's disk writes in a second.
  public var logBandwidth = 500e6

  /// Bytes in the store for each saved record, after the dispatch of its change.
  public var storedBytes = 1_500.0
  /// Bytes of memory for a subscription in a server's index.
  public var indexedSubscriptionBytes = 180.0
  /// Bytes in the store for a subscription.
  public var storedSubscriptionBytes = 400.0
  /// Processor seconds of a server to read a subscription from the store into an index.
  public var indexedSubscription = 3.3e-6
  /// Statements to start reading an index.
  public var indexStatements = 2.0

  /// Creates the default costs.
  public init() {}
}
