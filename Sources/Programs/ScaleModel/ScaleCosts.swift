/// What one thing costs, in seconds and bytes.
public struct ScaleCosts: Sendable, Hashable {
  /// How many statements a transaction has.
  public struct Statements: Sendable, Hashable {
    /// Of every transaction, whatever it writes: its begin and end among them.
    public var transaction = 4.0
    /// Further for each save.
    public var save = 10.0
    /// Further for each change that is dispatched.
    public var dispatch = 8.0

    public init(transaction: Double = 4, save: Double = 10, dispatch: Double = 8) {
      self.transaction = transaction
      self.save = save
      self.dispatch = dispatch
    }

    /// The round trips of the store's transactions, counted in its source: the begin with its locks and
    /// what goes with the commit; the reads and the drawing of numbers of a save; the reads of a
    /// dispatched change.
    public static let roundTripsAsBuilt = Statements(transaction: 2, save: 4, dispatch: 6)

    /// Of a transaction that does so much.
    func count(saves: Double, changes: Double) -> Double {
      transaction + save * saves + dispatch * changes
    }
  }

  public var statements = Statements()
  /// The round trips of a transaction where some statements are sent without waiting for the one before;
  /// nil where each statement is one.
  public var roundTrips: Statements?

  /// Statements of the transactions that only read: who the caller of a save is, and what changes wait
  /// in a database. By the store's source; calibrating takes them out of a save's and a change's.
  public var requestReads = 4.0
  public var dispatchReads = 4.0
  /// Statements for a change that another server saves than the one that dispatches it, beyond those of
  /// any: of both, to leave word, give notice and hear it, and to find the change in the outbox.
  public var wordStatements = 9.0

  /// Processor seconds of a server to take, check and answer a save.
  public var request = 60e-6
  /// Processor seconds of a server for each statement.
  public var serverStatement = 10e-6
  /// Processor seconds of a server to match a change, and to make what the log keeps of it when it fires.
  public var change = 60e-6
  /// Processor seconds of a server for each notification beyond the first of a change.
  public var furtherNotification = 7e-6
  /// Processor seconds of a server for a push, from the queue to its outcome.
  public var push = 37e-6
  /// Processor seconds of whoever makes the saves, where that is the same machine.
  public var load = 0.0

  /// Processor seconds of PostgreSQL for each statement, for each commit, for each notification beyond
  /// the first of a change, and for each push (its row and the end of it).
  public var databaseStatement = 25e-6
  public var databaseCommit = 50e-6
  public var databaseFurtherNotification = 30e-6
  public var databasePush = 60e-6

  /// Further processor seconds of a server and of PostgreSQL for each statement that finds a core idle:
  /// whoever is to work on it sleeps, and has to be woken. Under full load nobody sleeps.
  public var serverWaking = 0.0
  public var databaseWaking = 0.0

  /// Seconds to PostgreSQL and back.
  public var roundTrip = 30e-6
  /// Seconds in which PostgreSQL makes its log durable, for all commits that wait for it.
  public var flush = 200e-6
  /// Seconds until the holder of a lease hears of a change that another server has saved, and has read it
  /// from the outbox.
  public var wakeUp = 0.08
  /// Bytes of the log that a commit adds, a save, a dispatched change, a notification beyond the first,
  /// and a push.
  public var commitLogBytes = 300.0
  public var saveLogBytes = 3_000.0
  public var dispatchLogBytes = 1_500.0
  public var furtherNotificationLogBytes = 700.0
  public var pushLogBytes = 700.0
  /// Bytes of the log that a shard's disk takes in a second.
  public var logBandwidth = 500e6

  /// Bytes in the store that stay of a save whose change was dispatched.
  public var storedBytes = 1_500.0
  /// Bytes of a subscription in an index in memory, and in the store.
  public var indexedSubscriptionBytes = 180.0
  public var storedSubscriptionBytes = 400.0
  /// Processor seconds of a server to read a subscription into an index.
  public var indexedSubscription = 3.3e-6
  /// Statements with which the reading of an index begins.
  public var indexStatements = 2.0

  public init() {}
}
