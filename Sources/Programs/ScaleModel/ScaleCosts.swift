/// The costs of single operations, in seconds and bytes.
///
/// ``init()`` sets the costs of a usual machine; ``init(calibratedOn:)`` computes them from
/// measurements. "Processor seconds" are seconds of one core. "Log" is the write-ahead log of
/// PostgreSQL. ``ClusterSimulation`` explains the words of the model, such as lease and wake-up.
public struct ScaleCosts: Sendable, Hashable {
  /// The number of statements of a transaction: a fixed number, plus a number for each save and
  /// each dispatched change.
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

    /// Returns the statements of a transaction with these numbers of saves and dispatched changes.
    func count(saves: Double, changes: Double) -> Double {
      transaction + save * saves + dispatch * changes
    }
  }

  /// The statements of the writers' transactions.
  public var statements = Statements()
  /// The round trips of a transaction. There are fewer than statements if a server sends a
  /// statement before the answer to the previous one. If `nil`, each statement is one round trip.
  public var roundTrips: Statements?

  /// Statements of the read-only transaction before a save. That transaction identifies the caller:
  /// the user who sent the save. The number was counted in the store's source. Calibration
  /// subtracts it from the statements of a save.
  public var requestReads = 4.0
  /// Statements of the read-only transaction before a dispatch. That transaction finds the waiting
  /// changes. Calibration subtracts the number from the statements of a change.
  public var dispatchReads = 4.0
  /// Further statements for a change that one server saves while another server has the lease. They
  /// write the wake-up, send and receive PostgreSQL's notification, and find the change in the
  /// outbox. Each statement costs time of a server and of PostgreSQL.
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
  /// Processor seconds of the load generator for each save, if it runs on the same machine.
  public var load = 0.0

  /// Processor seconds of PostgreSQL for each statement.
  public var databaseStatement = 25e-6
  /// Processor seconds of PostgreSQL for each commit.
  public var databaseCommit = 50e-6
  /// Processor seconds of PostgreSQL for each notification of a change beyond the first.
  public var databaseFurtherNotification = 30e-6
  /// Processor seconds of PostgreSQL for each push: its row and the deletion of that row.
  public var databasePush = 60e-6

  /// Further processor seconds of a server for each statement that arrives while a core is idle.
  /// The thread then sleeps and must be woken; under full load no thread sleeps.
  public var serverWaking = 0.0
  /// Further processor seconds of PostgreSQL for each statement that arrives while a core is idle.
  public var databaseWaking = 0.0

  /// Seconds of a round trip from a server to PostgreSQL.
  public var roundTrip = 30e-6
  /// Seconds of one flush of PostgreSQL's log, which covers all commits that wait when it begins.
  public var flush = 200e-6
  /// Seconds from the commit of a change on one server until the server with the lease receives the
  /// wake-up. The work of ``notificationStatements`` follows and is not included.
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
  /// Bytes of log that a shard's disk can write in a second.
  public var logBandwidth = 500e6

  /// Bytes in the store for each saved record, when its change has been dispatched.
  public var storedBytes = 1_500.0
  /// Bytes of memory for a subscription in a server's index.
  public var indexedSubscriptionBytes = 180.0
  /// Bytes in the store for a subscription.
  public var storedSubscriptionBytes = 400.0
  /// Processor seconds of a server to read a subscription from the store into an index.
  public var indexedSubscription = 3.3e-6
  /// Statements that a server sends to read an index from the store, whatever its size.
  public var indexStatements = 2.0

  /// Creates the default costs.
  public init() {}
}
