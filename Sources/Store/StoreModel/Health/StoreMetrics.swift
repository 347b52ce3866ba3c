import Measuring

/// The measurements of a store at one moment. Counts begin when the store is opened.
public struct StoreMetrics: Sendable {
  /// The number of transactions committed since the store was opened.
  public var commits = 0
  /// The number of writes in those transactions. Several writes can share a transaction.
  public var writes = 0
  /// The number of transactions that were rolled back because of the engine, the disk or the
  /// connection. A refused write does not count.
  public var failures = 0
  /// The reason of the last such failure; nil if a transaction was committed since. For a damaged
  /// store, the description of the damage.
  public var fault: String?
  /// PostgreSQL's message about damaged pages in its files; nil if PostgreSQL found none. Only
  /// requests that need those pages fail.
  public var foundDamage: String?
  /// Whether the last read failed to reach the store.
  public var readsFail = false
  /// The seconds from a transaction's begin until it is durable.
  public var commitSeconds = Histogram(bounds: Histogram.seconds)
  /// The age in seconds of the oldest writing transaction under way; nil if there is none. A large
  /// value means that the disk or the database server does not answer.
  public var secondsInTransaction: Double?
  /// The number of writes that wait for a writing thread.
  public var waitingWrites = 0
  /// The number of reads that wait for a reading thread. If a store has no reading threads,
  /// ``waitingWrites`` counts its reads too.
  public var waitingReads = 0
  /// The numbers of reads that the store abandoned because their callers no longer waited.
  /// `waiting` counts reads that had not begun, and `running` counts reads under way.
  public var abandonedReads = (waiting: 0, running: 0)
  /// The bytes in use in the write-ahead log after the last transaction. The file may be larger.
  public var logBytes = 0
  /// The number of checkpoints: each copies pages from the write-ahead log into the database.
  public var checkpoints = 0
  /// The number of failed checkpoints. A failed checkpoint loses nothing, because the log still has
  /// all commits.
  public var failedCheckpoints = 0
  /// The number of entries of the notification log that are not in its index yet, and wait for that
  /// in memory.
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
  /// The size of the write-ahead log; nil for PostgreSQL, whose log also serves other databases.
  public var writeAheadLog: Int?
  /// The free bytes of the file system with the store's file; nil if they are not known, as for
  /// PostgreSQL.
  public var free: Int?

  /// Sizes of an empty store.
  public init() {}
}

/// The counts of a store's search cache. The cache has parts of the value index in memory, so that
/// searches are faster. All reading threads share the cache.
public struct SearchCacheCounts: Sendable, Hashable {
  /// The number of fields for which the cache has the values of all records.
  public var columns = 0
  /// The number of values for which the cache has a list of the records with that value.
  public var lists = 0
  /// The cache's memory in bytes; `searchCacheBytes` of the store's configuration is the limit.
  public var size = 0
  /// The number of entries made since the store was opened. Requests that failed count too: the
  /// entry was too large, or could not be read.
  public var made = 0
  /// The number of entries removed since the store was opened: the memory was full, or too many
  /// records had changed.
  public var givenUp = 0

  /// Creates counts, by default those of an empty cache.
  package init(columns: Int = 0, lists: Int = 0, size: Int = 0, made: Int = 0, givenUp: Int = 0) {
    self.columns = columns
    self.lists = lists
    self.size = size
    self.made = made
    self.givenUp = givenUp
  }
}
