import Measuring

/// The health of a store at one moment. Reading it does not read the store's file.
public struct StoreMetrics: Sendable {
  /// The number of transactions committed since the store was opened.
  public var commits = 0
  /// The number of writes in those transactions.
  public var writes = 0
  /// The number of transactions that failed in the engine or on the disk.
  public var failures = 0
  /// The error of the last transaction; nil if it was committed.
  public var fault: String?
  /// PostgreSQL's message about damaged pages of its own; nil if it found none. Only requests that
  /// need those pages fail.
  public var foundDamage: String?
  /// Whether the last read failed to reach the store.
  public var readsFail = false
  /// The seconds from a transaction's begin until it is durable.
  public var commitSeconds = Histogram(bounds: Histogram.seconds)
  /// The age of the transaction under way in seconds; nil if there is none.
  public var secondsInTransaction: Double?
  public var waitingWrites = 0
  public var waitingReads = 0
  /// Reads abandoned because their callers no longer waited: before they began, and while they ran.
  public var abandonedReads = (waiting: 0, running: 0)
  /// Bytes of the write-ahead log in use after the last commit. The file may be larger.
  public var logBytes = 0
  /// Passes that copied from the write-ahead log into the database, and failed ones.
  public var checkpoints = 0
  public var failedCheckpoints = 0
  /// Entries of the notification log that wait in memory to be filed in its index.
  public var unfiledNotifications = 0
  public var searchCache = SearchCacheCounts()

  public init() {}
}

/// The storage that a store uses, in bytes.
public struct StoreFileSizes: Sendable, Hashable {
  /// The database file, or the tables with their indexes.
  public var database = 0
  /// Nil if the store shares the log with other databases.
  public var writeAheadLog: Int?
  /// Free bytes of the file system; nil if the database is on another machine.
  public var free: Int?

  public init() {}
}
