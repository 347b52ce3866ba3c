/// A simulated server with the jobs that wait for its writers.
struct SimulatedServer {
  /// The waiting jobs of each shard, in the order of arrival.
  var queues: [FirstInFirstOut<ClusterSimulation.Job>]
  /// Writers that are not in a transaction.
  var freeWriters: Int
  /// All writers of the server.
  let writers: Int
  /// The databases in the open transactions of this server.
  var databases: Set<Int> = []
  /// The shard whose queue the next free writer looks at first.
  var nextShard = 0
  /// Jobs in all queues.
  var waiting = 0
  /// Whether the server has died.
  var isDead = false
  /// Pushes that wait for the answer of APNs.
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

/// The write-ahead log of a shard. It makes one flush at a time; a flush covers all commits that
/// wait when it begins.
struct SimulatedShard {
  /// The transactions that wait for the next flush.
  var waiting: [Int] = []
  /// The transactions of the current flush.
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

  /// Ends the flush and returns its transactions.
  mutating func end(at now: Double) -> [Int] {
    isFlushing = false
    busy += now - since
    defer { flushing = [] }
    return flushing
  }

  /// Returns the seconds in which the log was flushed since measuring began.
  func busySeconds(at now: Double) -> Double { busy + (isFlushing ? now - since : 0) }

  /// Resets the counter at the end of the warm-up.
  mutating func beginMeasuring(at now: Double) {
    busy = 0
    since = now
  }
}

/// A transaction of a writer.
struct SimulatedTransaction {
  /// The step that a transaction is in, in order.
  enum Step {
    /// It waits for locks.
    case locking
    /// Its statements travel to PostgreSQL and back.
    case ways
    /// The server works on its statements.
    case server
    /// PostgreSQL works on its statements.
    case postgreSQL
    /// It waits for a flush of the log.
    case committing
    /// The answer to the commit travels to the server.
    case answering
  }

  var server: Int
  var shard: Int
  var jobs: [ClusterSimulation.Job]
  /// The databases whose rows it locks, in ascending order.
  var databases: [Int]
  /// The number of rows that it has locked, from the front of ``databases``.
  var locked = 0
  var step = Step.locking
  /// The time when it began to wait for a lock.
  var waitsSince = 0.0
  var costs = TransactionCosts()
  /// Whether its server has died before the commit.
  var isDead = false
}

/// The costs of a transaction.
struct TransactionCosts {
  /// Statements that it sends.
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
  /// Bytes that it adds to the log.
  var logBytes = 0.0
}

/// The locked row of a database, with the transactions that wait for it.
struct SimulatedRow {
  var waiting = FirstInFirstOut<Int>()
}

/// A database with its undispatched changes, and the server that holds its lease.
struct SimulatedLane {
  /// A committed change.
  struct Change {
    /// The time when the save began to wait for a writer.
    var taken: Double
    /// The time when the commit was answered.
    var committed: Double
  }

  /// The server that holds the lease.
  var holder: Int
  /// The changes that wait for dispatch.
  var changes = FirstInFirstOut<Change>()
  /// The changes of the current batch.
  var underWay: [Change] = []
  /// Whether a wake-up for the holder is under way.
  var hasPendingWakeUp = false
  /// Whether the holder works on a batch or reads the index.
  var isBusy = false
  /// Whether the holder has the database's index in memory.
  var hasIndex: Bool
  /// Whether the holder died, and changes from before the takeover are still undispatched.
  var isOrphan = false
  /// The time of the takeover: changes up to then count for the recovery.
  var orphanedUntil = 0.0
  /// Notifications of the current batch.
  var firings = 0
  /// The time when the last batch ended.
  var idleSince = -Double.infinity
}
