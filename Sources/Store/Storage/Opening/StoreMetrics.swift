import Measuring

/// The measurements of a store at one moment. Counts begin when the store is opened.
public struct StoreMetrics: Sendable {
  /// The number of transactions committed since the store was opened.
  public var commits = 0
  /// The number of writes in those transactions. Several writes can share a transaction.
  public var writes = 0
  /// Rolled back because of the engine, the disk or the connection; not refused writes.
  public var failures = 0
  /// The reason of the last such failure; nil if a transaction was committed since. For a damaged
  /// store, the damage.
  public var fault: String?
  /// PostgreSQL's message about damaged pages in its files, if it found any. Only requests that
  /// need those pages fail.
  public var foundDamage: String?
  /// Whether the last read failed to reach the store.
  public var readsFail = false
  /// The seconds from a transaction's begin until it is durable.
  public var commitSeconds = Histogram(bounds: Histogram.seconds)
  /// The age in seconds of the oldest writing transaction under way. A large value means that the
  /// disk or the database server does not answer.
  public var secondsInTransaction: Double?
  /// The writes that wait for a writing thread.
  public var waitingWrites = 0
  /// Without reading threads, ``waitingWrites`` counts them.
  public var waitingReads = 0
  /// Reads whose callers no longer waited: before they had begun, or under way.
  public var abandonedReads = (waiting: 0, running: 0)
  /// The bytes in use in the write-ahead log after the last transaction. The file may be larger.
  public var logBytes = 0
  /// Each checkpoint copies pages from the write-ahead log into the database.
  public var checkpoints = 0
  /// A failed checkpoint loses nothing: the log still has all commits.
  public var failedCheckpoints = 0
  /// The entries of the notification log that wait in memory for its index.
  public var unfiledNotifications = 0
  /// The state of the search cache.
  public var searchCache = SearchCacheCounts()
}

/// The storage that a store uses, in bytes.
public struct StoreFileSizes: Sendable, Hashable {
  /// The size of the database file, or of the tables with their indexes.
  public var database = 0
  /// The size of the write-ahead log; nil for PostgreSQL, whose log also serves other databases.
  public var writeAheadLog: Int?
  /// The free bytes of the file system, if they are known. PostgreSQL's are not.
  public var free: Int?
}

/// The counts of the search cache: parts of the value index in memory, which all reading threads
/// share.
public struct SearchCacheCounts: Sendable, Hashable {
  /// The fields whose values the cache has for all records.
  public var columns = 0
  /// The values for which the cache has a list of the records with that value.
  public var lists = 0
  /// The memory in bytes, at most `searchCacheBytes` of the store's configuration.
  public var size = 0
  /// Since the store was opened, also those that failed: too large, or unreadable.
  public var made = 0
  /// Removed because the memory was full, or too many records had changed.
  public var givenUp = 0
}
