import Measuring

/// How a store is doing, at one moment. Nothing is read from its file for it.
public struct StoreMetrics: Sendable {
  /// Transactions that were committed since the store was opened.
  public var commits = 0
  /// Writes that were in them.
  public var writes = 0
  /// Transactions that the engine or the disk did not let through.
  public var failures = 0
  /// What the last transaction failed with; nil when it was committed.
  public var fault: String?
  /// What PostgreSQL said of pages of its own that are damaged; nil when it came upon none. Requests that
  /// need them fail, and others do not.
  public var foundDamage: String?
  /// Whether the last read found no store to read.
  public var readsFail = false
  /// The seconds that transactions took, until they were durable.
  public var commitSeconds = Histogram(bounds: Histogram.seconds)
  /// How long the transaction under way has been going on, in seconds; nil when there is none.
  public var secondsInTransaction: Double?
  public var waitingWrites = 0
  public var waitingReads = 0
  /// Reads that were given up before they began because nobody waited for them any more, and those that
  /// had begun.
  public var abandonedReads = (waiting: 0, running: 0)
  /// Bytes in the write-ahead log that count, after the last commit. The file may be larger.
  public var logBytes = 0
  /// Passes that copied from the write-ahead log into the database, and those that failed.
  public var checkpoints = 0
  public var failedCheckpoints = 0
  /// Entries of the notification log that wait in memory to be filed in its index.
  public var unfiledNotifications = 0
  public var searchCache = SearchCacheCounts()

  public init() {}
}

/// What the store takes, in bytes.
public struct StoreFileSizes: Sendable, Hashable {
  /// The file, or the tables with their indexes.
  public var database = 0
  /// Nil where it is not the store's alone.
  public var writeAheadLog: Int?
  /// What the file system has left for the server; nil where that is another machine's.
  public var free: Int?

  public init() {}
}
