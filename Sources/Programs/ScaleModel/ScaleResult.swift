/// What came of a simulation.
public struct ScaleResult: Sendable {
  /// The state of the queues at one moment.
  public struct Moment: Sendable {
    public var second: Double
    /// Changes that were saved and have not fired yet; those of them in databases whose lease a dead
    /// server holds.
    public var waitingChanges: Int
    public var orphanedChanges: Int
    /// Writes that wait for a writer.
    public var waitingWrites: Int
  }

  /// What was seen after a server died.
  public struct Recovery: Sendable {
    /// Seconds from its death until all databases were dispatched again that it had the lease of, with
    /// all that had been saved into them before: private ones, and public ones.
    public var privateSeconds = 0.0
    public var publicSeconds = 0.0
    /// Databases whose lease it had, with changes that waited, when another took them over.
    public var databases = 0
    /// The most changes that waited at once in such databases.
    public var deepest = 0
    /// Saves that had no answer from it, and were sent again to others.
    public var repeatedSaves = 0
    /// Whether all was done when the simulation ended.
    public var isComplete = true
  }

  public var seconds = 0.0
  public var offered = 0
  public var saved = 0
  public var dispatched = 0
  public var pushed = 0
  public var refused = 0
  /// From the arrival of a save to its answer.
  public var saveDelay = DelayHistogram()
  /// From when a server begins with a save, and knows who makes it, to the commit of what it fires.
  public var dispatchDelay = DelayHistogram()

  /// The part of their time that the servers' cores, the shards' cores and the shards' logs were busy, in
  /// the mean, and the busiest.
  public var serverUtilization = 0.0
  public var busiestServer = 0.0
  public var shardUtilization = 0.0
  public var busiestShard = 0.0
  public var logUtilization = 0.0
  /// The part of the time that somebody held the row of the busiest public database, and its saves.
  public var lockUtilization = 0.0
  /// The part of their time that the servers' writers were in a transaction.
  public var writerUtilization = 0.0
  public var transactions = 0
  public var statements = 0.0
  /// Seconds that transactions waited for rows of databases, over all.
  public var lockWaitSeconds = 0.0
  /// Jobs that a processor had, in the mean, and what Little's law makes of their number and stay.
  public var jobs = 0.0
  public var jobsByLittlesLaw = 0.0
  public var mostWaitingWrites = 0
  public var waitingChangesAtEnd = 0
  public var events = 0
  public var moments: [Moment] = []
  public var recovery: Recovery?

  public var savesPerSecond: Double { Double(saved) / seconds }
  public var dispatchedPerSecond: Double { Double(dispatched) / seconds }

  /// Whether what waits grows without end: a fiftieth of what came was not answered or dispatched.
  public var isOverloaded: Bool {
    Double(refused) > Double(offered) / 50 || Double(waitingChangesAtEnd) > Double(offered) / 50
      || Double(saved) < Double(offered) * 0.97
  }
}
