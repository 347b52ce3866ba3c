/// The outcome of a simulation. Rates, delays and utilizations cover the measured time, without the
/// warm-up.
public struct ScaleResult: Sendable {
  /// The waiting changes at one moment.
  public struct Moment: Sendable {
    /// Seconds from the beginning of the simulation, warm-up included.
    public var second: Double
    /// Changes on all servers that are saved but not dispatched yet.
    public var waitingChanges: Int
    /// The part of ``waitingChanges`` in databases whose lease the dead server still has.
    public var orphanedChanges: Int
  }

  /// The recovery after the death of a server.
  public struct Recovery: Sendable {
    /// Seconds from the death until the recovery of the last private database of the dead server. A
    /// database has recovered when another server has taken over its lease, and has dispatched all
    /// changes from before the takeover. If ``isComplete`` is `false`, the value covers only the
    /// recovered databases.
    public var privateSeconds = 0.0
    /// The same for its public databases.
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
  /// Saves that a server refused because too many writes waited.
  public var refused = 0
  /// Without those that a lost check repeated.
  public var transactions = 0
  /// Transactions that were repeated, because another server had changed what they had read.
  public var repeatedTransactions = 0
  /// Seconds from the arrival of a save to its answer.
  public var saveDelay = DelayHistogram()
  /// Seconds from the start of a save's wait for a writer until the server has the answer to the
  /// commit of its notifications.
  public var dispatchDelay = DelayHistogram()

  /// The mean utilization of the servers' processors (0–1).
  public var serverUtilization = 0.0
  /// The mean utilization of the shards' processors (0–1).
  public var shardUtilization = 0.0
  /// The fraction of the time in which a transaction locked the row of the busiest public database.
  public var lockUtilization = 0.0
  /// Changes that waited for dispatch at the end.
  public var waitingChangesAtEnd = 0
  /// Events that the simulation handled, warm-up included.
  public var events = 0
  /// The waiting changes, ten times in a simulated second, warm-up included.
  public var moments: [Moment] = []
  /// The recovery; `nil` if no server died.
  public var recovery: Recovery?

  /// Answered saves in a second.
  public var savesPerSecond: Double { Double(saved) / seconds }
  /// Dispatched changes in a second.
  public var dispatchedPerSecond: Double { Double(dispatched) / seconds }
  /// Saves and dispatched changes in a transaction, on average.
  public var jobsPerTransaction: Double {
    Double(saved + dispatched) / Double(max(1, transactions))
  }

  /// Whether the load exceeds the capacity. One of three conditions is enough, each as a share of
  /// ``offered``: more than 2 % were refused, more than 2 % wait for dispatch at the end, or less
  /// than 97 % were saved.
  public var isOverloaded: Bool {
    Double(refused) > Double(offered) / 50 || Double(waitingChangesAtEnd) > Double(offered) / 50
      || Double(saved) < Double(offered) * 0.97
  }
}
