/// A simulated server with the jobs that wait for its writers. ``ClusterSimulation`` explains the
/// words of the model.
struct SimulatedServer {
  /// The waiting jobs of each shard, in the order of arrival.
  var queues: [FirstInFirstOut<ClusterSimulation.Job>]
  /// The number of writers that are not in a transaction.
  var freeWriters: Int
  /// The number of all writers of the server.
  let writers: Int
  /// The databases in the open transactions of this server.
  var databases: Set<Int> = []
  /// The shard whose queue the next free writer examines first.
  var nextShard = 0
  /// Jobs in all queues.
  var waiting = 0
  /// Whether the server has died.
  var isDead = false
  /// Pushes that were sent and that APNs has not answered yet.
  var openPushes = 0
  /// Pushes that wait until the server may open more.
  var waitingPushes = 0
  /// Seconds that writers were in transactions, summed over all writers.
  private(set) var writerSeconds = 0.0
  private var lastChange = 0.0

  init(shards: Int, writers: Int) {
    queues = (0..<shards).map { _ in FirstInFirstOut() }
    self.writers = writers
    freeWriters = writers
  }

  /// Adds the writers' time since the last call to ``writerSeconds``. Call it before
  /// ``freeWriters`` changes.
  mutating func noteWriters(at now: Double) {
    writerSeconds += Double(writers - freeWriters) * (now - lastChange)
    lastChange = now
  }

  /// Resets the counter at the end of the warm-up.
  mutating func beginMeasuring(at now: Double) {
    writerSeconds = 0
    lastChange = now
  }
}

/// The write-ahead log of a shard. There is one flush at a time. A flush covers all commits that
/// wait when the flush begins.
struct SimulatedShard {
  /// The numbers of the transactions that wait for the next flush.
  var waiting: [Int] = []
  /// The numbers of the transactions in the current flush.
  var flushing: [Int] = []
  var isFlushing = false
  private var busy = 0.0
  private var since = 0.0

  /// Starts a flush of all waiting commits.
  mutating func begin(at now: Double) {
    isFlushing = true
    since = now
    flushing = waiting
    waiting = []
  }

  /// Ends the flush and returns the numbers of its transactions.
  mutating func end(at now: Double) -> [Int] {
    isFlushing = false
    busy += now - since
    defer { flushing = [] }
    return flushing
  }

  /// Returns the seconds of all flushes since measuring began, with the current one up to `now`.
  func busySeconds(at now: Double) -> Double { busy + (isFlushing ? now - since : 0) }

  /// Resets the counter at the end of the warm-up.
  mutating func beginMeasuring(at now: Double) {
    busy = 0
    since = now
  }
}

/// A transaction of a writer.
struct SimulatedTransaction {
  /// The steps of a transaction, in their order.
  enum Step {
    /// The transaction locks the rows of its databases, or waits for a lock.
    case locking
    /// The statements travel to PostgreSQL and the answers back.
    case ways
    /// The server works on the statements.
    case server
    /// PostgreSQL works on the statements.
    case postgreSQL
    /// The commit waits for a flush of the log, or for the end of that flush.
    case committing
    /// The answer to the commit travels to the server.
    case answering
  }

  var server: Int
  var shard: Int
  var jobs: [ClusterSimulation.Job]
  /// The databases whose rows the transaction locks, in ascending order.
  var databases: [Int]
  /// The number of rows that the transaction has locked, from the front of ``databases``.
  var locked = 0
  var step = Step.locking
  /// The time when the transaction began its last wait for a lock.
  var waitsSince = 0.0
  var costs = TransactionCosts()
  /// Whether the server died before PostgreSQL received the commit.
  var isDead = false
}

/// The costs of a transaction.
struct TransactionCosts {
  /// Statements that the transaction sends.
  var statements = 0.0
  /// Round trips to PostgreSQL.
  var roundTrips = 0.0
  /// Processor seconds of the server.
  var server = 0.0
  /// Processor seconds of PostgreSQL.
  var postgreSQL = 0.0
  /// Further processor seconds of the server if a core is idle.
  var serverWaking = 0.0
  /// Further processor seconds of PostgreSQL if a core is idle.
  var postgreSQLWaking = 0.0
  /// Bytes that the transaction adds to the log.
  var logBytes = 0.0
}

/// The locked row of a database, with the numbers of the transactions that wait for the lock.
struct SimulatedRow {
  var waiting = FirstInFirstOut<Int>()
}

/// A database with its undispatched changes and its holder: the server with the lease.
struct SimulatedLane {
  /// A committed change.
  struct Change {
    /// The time when the save began to wait for a writer.
    var taken: Double
    /// The time when the server received the answer to the commit.
    var committed: Double
  }

  /// The server with the lease. It may be dead.
  var holder: Int
  /// The changes that wait for dispatch.
  var changes = FirstInFirstOut<Change>()
  /// The changes of the current batch.
  var underWay: [Change] = []
  /// Whether a wake-up is on its way to the holder.
  var hasPendingWakeUp = false
  /// Whether the holder works on a batch or reads the index.
  var isBusy = false
  /// Whether the holder has the database's index in memory.
  var hasIndex: Bool
  /// Whether the holder died, and changes from before the takeover are still undispatched.
  var isOrphan = false
  /// The time when another server took the lease over. Changes up to this time count for the
  /// recovery.
  var orphanedUntil = 0.0
  /// Notifications of the current batch.
  var firings = 0
  /// The time when the last batch ended.
  var idleSince = -Double.infinity
}
