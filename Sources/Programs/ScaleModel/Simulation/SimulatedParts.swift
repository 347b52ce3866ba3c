/// A server with the writes that wait for its writers.
struct SimulatedServer {
  /// By shard, in the order in which they came.
  var queues: [FirstInFirstOut<ClusterSimulation.Job>]
  var freeWriters: Int
  let writers: Int
  /// The databases that its writers have in hand.
  var databases: Set<Int> = []
  var nextShard = 0
  var waiting = 0
  var isDead = false
  var openPushes = 0
  var waitingPushes = 0
  private(set) var writerSeconds = 0.0
  private var lastChange = 0.0

  init(shards: Int, writers: Int) {
    queues = (0..<shards).map { _ in FirstInFirstOut() }
    self.writers = writers
    freeWriters = writers
  }

  /// Counts the time of the writers that are at work until now.
  mutating func noteWriters(at now: Double) {
    writerSeconds += Double(writers - freeWriters) * (now - lastChange)
    lastChange = now
  }

  mutating func beginMeasuring(at now: Double) {
    writerSeconds = 0
    lastChange = now
  }
}

/// A shard's write-ahead log: one flush at a time, for all commits that wait when it begins.
struct SimulatedShard {
  var waiting: [Int] = []
  var flushing: [Int] = []
  var isFlushing = false
  private var busy = 0.0
  private var since = 0.0

  mutating func begin(at now: Double) {
    isFlushing = true
    since = now
    flushing = waiting
    waiting = []
  }

  mutating func end(at now: Double) -> [Int] {
    isFlushing = false
    busy += now - since
    defer { flushing = [] }
    return flushing
  }

  func busySeconds(at now: Double) -> Double { busy + (isFlushing ? now - since : 0) }

  mutating func beginMeasuring(at now: Double) {
    busy = 0
    since = now
  }
}

/// A writer's transaction.
struct SimulatedTransaction {
  enum Step {
    case locking
    case ways
    case server
    case postgreSQL
    case committing
    case answering
  }

  var server: Int
  var shard: Int
  var jobs: [ClusterSimulation.Job]
  /// The databases whose rows it locks, in order, and how many it has.
  var databases: [Int]
  var locked = 0
  var step = Step.locking
  var waitsSince = 0.0
  var costs = TransactionCosts()
  var isDead = false
}

/// What a transaction takes.
struct TransactionCosts {
  var statements = 0.0
  var roundTrips = 0.0
  var server = 0.0
  var postgreSQL = 0.0
  /// Further seconds of both where a core is idle.
  var serverWaking = 0.0
  var postgreSQLWaking = 0.0
  var logBytes = 0.0
}

/// The row of a database that somebody locks.
struct SimulatedRow {
  var waiting = FirstInFirstOut<Int>()
}

/// A database that has changes to be dispatched, and the server that has its lease.
struct SimulatedLane {
  struct Change {
    /// When the server began with the save.
    var taken: Double
    var committed: Double
  }

  var holder: Int
  /// Those that wait.
  var changes = FirstInFirstOut<Change>()
  var underWay: [Change] = []
  /// Whether the holder was left word that it has not heard of yet.
  var hasPendingWakeUp = false
  var isBusy = false
  /// Whether the holder has its index.
  var hasIndex: Bool
  /// Whether its holder died, and not all that waited then is dispatched.
  var isOrphan = false
  /// Until which time its changes are the orphaned ones.
  var orphanedUntil = 0.0
  var firings = 0
  /// When it last had something to do.
  var idleSince = -Double.infinity
}
