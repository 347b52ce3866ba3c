/// A simulated server with the jobs that wait for its writers.
struct SimulatedServer {
  /// The waiting jobs: short ones, and batches with many notifications. A transaction has jobs of
  /// one kind, and the kinds take turns.
  var queues = [FirstInFirstOut<ClusterSimulation.Job>](repeating: .init(), count: 2)
  /// The place in ``queues`` whose turn it is.
  var turn = 0
  /// The jobs that came while a transaction of this server used their database, by database. They
  /// join the queues after it.
  var blocked: [Int: [ClusterSimulation.Job]] = [:]
  /// Jobs in all queues, and blocked ones.
  var waiting = 0
  /// The time since which jobs wait that no writer has taken.
  var waitingSince = 0.0
  /// Whether an event will look for jobs that were left to a writer at work.
  var hasWatch = false
  var freeWriters: [Int]
  /// For each writer, the next transactions that lock first.
  var cautious: [Int]
  /// The databases in the open transactions of this server.
  var databases: Set<Int> = []
  var isDead = false

  init(writers: Int) {
    freeWriters = Array(0..<writers)
    cautious = [Int](repeating: 0, count: writers)
  }
}

/// The log of a shard, with the numbers of transactions. There is one flush at a time. A flush
/// covers all commits that wait when the flush begins.
struct SimulatedShard {
  var waiting: [Int] = []
  var flushing: [Int] = []
}

/// A transaction of a writer.
struct SimulatedTransaction {
  /// The steps of a transaction, in their order.
  enum Step: Int {
    /// The first message travels to PostgreSQL, or waits there for locks.
    case beginning
    /// PostgreSQL reads what the jobs need.
    case reading
    /// The results travel to the server.
    case returning
    /// The server runs the jobs.
    case deciding
    /// The writes and the commit travel to PostgreSQL, or wait there for locks.
    case locking
    case writing
    /// The commit waits for a flush of the log, or for the end of that flush.
    case flushing
    /// The answer to the commit travels to the server.
    case answering
  }

  var server: Int
  var writer: Int
  var jobs: [ClusterSimulation.Job]
  /// The databases whose rows the transaction locks, in ascending order.
  var databases: [Int]
  /// Whether the transaction locks before it reads.
  var locksFirst: Bool
  var work: Cost
  /// The number of rows that the transaction has locked, from the front of ``databases``.
  var locked = 0
  /// The numbers that the transaction has read, by place in ``databases``.
  var numbers: [Int] = []
  var step = Step.beginning
  /// Whether the server died before PostgreSQL received the commit.
  var isDead = false
}

/// The row of a database.
struct SimulatedRow {
  var isLocked = false
  var waiting = FirstInFirstOut<Int>()
  /// The commits to the database.
  var number = 0
}

/// A database with its undispatched changes and its holder: the server with the lease.
final class SimulatedLane {
  /// A committed change.
  struct Change {
    /// The time when the save began to wait for a writer.
    var taken: Double
    /// The time when the server received the answer to the commit.
    var committed: Double
  }

  /// The server with the lease. It may be dead.
  var holder: Int
  var changes = FirstInFirstOut<Change>()
  var underWay: [Change] = []
  /// Notifications of the current batch.
  var firings = 0
  /// Whether a wake-up is on its way to the holder.
  var hasPendingWakeUp = false
  /// Whether some changes are only in the outbox, so that the holder must catch up.
  var isBehind = false
  /// Whether the holder works on a batch, catches up, or reads the index.
  var isBusy = false
  /// Whether the holder has the database's index in memory.
  var hasIndex = true
  /// Whether the holder died, and changes from before the takeover are still undispatched.
  var isOrphan = false
  /// The time when another server took the lease over.
  var orphanedUntil = 0.0
  /// The time when the last batch ended.
  var idleSince = -Double.infinity

  init(holder: Int) { self.holder = holder }
}
