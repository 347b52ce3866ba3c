/// The outcome of a simulation. Rates, delays and utilizations cover the measured time, without the
/// warm-up.
public struct ScaleResult: Sendable {
  /// The lengths of the queues at one moment.
  public struct Moment: Sendable {
    /// Seconds from the beginning of the simulation, warm-up included.
    public var second: Double
    /// Changes that are saved and not dispatched yet, of all servers.
    public var waitingChanges: Int
    /// The part of ``waitingChanges`` in databases whose lease a dead server holds.
    public var orphanedChanges: Int
    /// Writes that wait for a writer, of all servers.
    public var waitingWrites: Int
  }

  /// The recovery after the death of a server.
  public struct Recovery: Sendable {
    /// Seconds from the death until the last private database of the dead server was dispatched
    /// again, with all changes saved before the takeover. If ``isComplete`` is false, some
    /// databases are missing here.
    public var privateSeconds = 0.0
    /// Seconds from the death until the last public database of the dead server was dispatched
    /// again, as in ``privateSeconds``.
    public var publicSeconds = 0.0
    /// Databases with waiting changes whose lease another server took over.
    public var databases = 0
    /// The most changes that waited at the same time in databases of the dead server, before their
    /// takeover; a sum over these databases.
    public var deepest = 0
    /// Saves without an answer from the dead server, which their clients sent again to other
    /// servers.
    public var repeatedSaves = 0
    /// Whether all databases of the dead server were dispatched again before the simulation ended.
    public var isComplete = true
  }

  /// Seconds of measured time.
  public var seconds = 0.0
  /// Saves that arrived.
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
  /// Seconds from the time when a save begins to wait for a writer to the commit of its
  /// notifications.
  public var dispatchDelay = DelayHistogram()

  /// The mean utilization of the servers' processors (0–1).
  public var serverUtilization = 0.0
  /// The highest utilization of one server's processors.
  public var busiestServer = 0.0
  /// The mean utilization of the shards' processors.
  public var shardUtilization = 0.0
  /// The highest utilization of one shard's processors.
  public var busiestShard = 0.0
  /// The mean fraction of the time in which a shard's log was flushed.
  public var logUtilization = 0.0
  /// The fraction of the time in which a transaction locked the row of the busiest public database.
  public var lockUtilization = 0.0
  /// The fraction of the time that the servers' writers spent in transactions.
  public var writerUtilization = 0.0
  /// Transactions that committed.
  public var transactions = 0
  /// Statements of these transactions.
  public var statements = 0.0
  /// Seconds that transactions waited for locked rows of databases, summed over all transactions.
  public var lockWaitSeconds = 0.0
  /// Jobs at the processors, waiting ones included, on average over the time.
  public var jobs = 0.0
  /// The value of ``jobs`` by Little's law: rate × mean stay. A difference to ``jobs`` shows an
  /// error in the simulation.
  public var jobsByLittlesLaw = 0.0
  /// The most writes that waited at one server at the same time.
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

  /// Whether the load exceeds the capacity. That is so in each of three cases, compared with
  /// ``offered``: more than 2 % of the saves were refused; more than 2 % wait for dispatch at the
  /// end; more than 3 % were not saved.
  public var isOverloaded: Bool {
    Double(refused) > Double(offered) / 50 || Double(waitingChangesAtEnd) > Double(offered) / 50
      || Double(saved) < Double(offered) * 0.97
  }
}
