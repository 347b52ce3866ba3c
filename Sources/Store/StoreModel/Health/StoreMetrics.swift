import Measuring

/// The measurements of a store at one moment. Counts begin when the store is opened.
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
  /// The age in seconds of the oldest transaction under way; nil if there is none. A large value
  /// means that the disk or the database server does not answer.
  public var secondsInTransaction: Double?
  /// The number of writes that wait for a writer.
  public var waitingWrites = 0
  /// The number of reads that wait for a reader.
  public var waitingReads = 0
  /// Reads abandoned because their callers no longer waited: before they began, and while they ran.
  public var abandonedReads = (waiting: 0, running: 0)
  /// Bytes of the write-ahead log in use after the last commit. The file may be larger.
  public var logBytes = 0
  /// The number of passes that copied from the write-ahead log into the database.
  public var checkpoints = 0
  /// The number of those passes that failed. A failed pass loses nothing: the log keeps all
  /// commits.
  public var failedCheckpoints = 0
  /// Entries of the notification log that wait in memory to be filed in its index.
  public var unfiledNotifications = 0
  /// The state of the search cache.
  public var searchCache = SearchCacheCounts()

  /// Metrics of a store that has done nothing.
  public init() {}
}

/// The storage that a store uses, in bytes.
public struct StoreFileSizes: Sendable, Hashable {
  /// The size of the database file, or of the tables with their indexes.
  public var database = 0
  /// The size of the write-ahead log; nil if the store shares the log with other databases.
  public var writeAheadLog: Int?
  /// The free bytes of the file system; nil if the database is on another machine.
  public var free: Int?

  /// Sizes of an empty store.
  public init() {}
}
