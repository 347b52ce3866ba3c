/// The outcome of a simulation. Rates, delays and utilizations cover the measured time, without the
/// warm-up. ``ClusterSimulation`` explains the words of the model, such as shard, dispatch and
/// lease.
public struct ScaleResult: Sendable {
  /// The lengths of the queues at one moment.
  public struct Moment: Sendable {
    /// Seconds from the beginning of the simulation, warm-up included.
    public var second: Double
    /// Changes on all servers that are saved but not dispatched yet.
    public var waitingChanges: Int
    /// The part of ``waitingChanges`` in databases whose lease the dead server still has.
    public var orphanedChanges: Int
    /// Saves and dispatched batches that wait for a writer, on all servers.
    public var waitingWrites: Int
  }

  /// The recovery after the death of a server.
  public struct Recovery: Sendable {
    /// Seconds from the death until the recovery of the last private database of the dead server. A
    /// database has recovered when another server has taken over its lease, and has dispatched all
    /// changes from before the takeover. If ``isComplete`` is `false`, the value covers only the
    /// recovered databases.
    public var privateSeconds = 0.0
    /// Seconds from the death until the recovery of the last public database of the dead server, as
    /// in ``privateSeconds``.
    public var publicSeconds = 0.0
    /// Databases with waiting changes whose lease another server took over.
    public var databases = 0
    /// The most changes that waited at the same time in all databases of the dead server together,
    /// before their takeover.
    public var deepest = 0
    /// Saves that the dead server did not answer. Their clients sent them again to other servers.
    public var repeatedSaves = 0
    /// Whether all databases of the dead server had recovered before the simulation ended.
    public var isComplete = true
  }

  /// Seconds of measured time.
  public var seconds = 0.0
  /// Saves that arrived, without repetitions.
  public var offered = 0
  /// Saves that a server answered after their commit.
  public var saved = 0
  /// Changes whose notifications are committed.
  public var dispatched = 0
  /// Pushes that APNs answered.
  public var pushed = 0
  /// Saves that a server refused because too many writes waited.
  public var refused = 0
  /// Seconds from the arrival of a save to its answer.
  public var saveDelay = DelayHistogram()
  /// Seconds from the start of a save's wait for a writer until the server has the answer to the
  /// commit of its notifications.
  public var dispatchDelay = DelayHistogram()

  /// The mean utilization of the servers' processors (0–1).
  public var serverUtilization = 0.0
  /// The highest utilization of one server's processors.
  public var busiestServer = 0.0
  /// The mean utilization of the shards' processors.
  public var shardUtilization = 0.0
  /// The highest utilization of one shard's processors.
  public var busiestShard = 0.0
  /// The fraction of the time in which a shard flushed its write-ahead log, as a mean over the
  /// shards.
  public var logUtilization = 0.0
  /// The fraction of the time in which a transaction locked the row of the busiest public database.
  public var lockUtilization = 0.0
  /// The fraction of their time that the servers' writers were in transactions (0–1).
  public var writerUtilization = 0.0
  /// Transactions that committed.
  public var transactions = 0
  /// Statements of these transactions.
  public var statements = 0.0
  /// Seconds that transactions waited for locked rows of databases, summed over all transactions.
  public var lockWaitSeconds = 0.0
  /// Pieces of work at all processors, waiting ones included, on average over the time.
  public var jobs = 0.0
  /// The value of ``jobs`` by Little's law: the rate of finished work × its mean stay. A large
  /// difference to ``jobs`` shows an error in the simulation.
  public var jobsByLittlesLaw = 0.0
  /// The most saves and dispatched batches that waited for the writers of one server at the same
  /// time.
  public var mostWaitingWrites = 0
  /// Changes that waited for dispatch at the end.
  public var waitingChangesAtEnd = 0
  /// Events that the simulation handled, warm-up included.
  public var events = 0
  /// The lengths of the queues, ten times in a simulated second, warm-up included.
  public var moments: [Moment] = []
  /// The recovery; `nil` if no server died.
  public var recovery: Recovery?

  /// Answered saves in a second.
  public var savesPerSecond: Double { Double(saved) / seconds }
  /// Dispatched changes in a second.
  public var dispatchedPerSecond: Double { Double(dispatched) / seconds }

  /// Whether the load exceeds the capacity. One of three conditions is enough, each as a share of
  /// ``offered``: more than 2 % were refused, more than 2 % wait for dispatch at the end, or less
  /// than 97 % were saved.
  public var isOverloaded: Bool {
    Double(refused) > Double(offered) / 50 || Double(waitingChangesAtEnd) > Double(offered) / 50
      || Double(saved) < Double(offered) * 0.97
  }
}
