import CloudKitModel
import Foundation
import StoreModel

/// How a store is opened.
public struct StoreConfiguration: Sendable {
  /// What the opening process is to the store.
  public enum Role: Sendable, Hashable {
    /// The server: only one may have the store open.
    case server
    /// A tool that runs beside it, such as `petrel users add`.
    case tool
  }

  /// The engine's own settings.
  public struct Tuning: Sendable, Hashable {
    /// Page cache of each connection, in KiB.
    public var cacheKilobytes = 256 * 1024
    /// How long a server looks at the checksums of its store's pages before it serves it, in seconds;
    /// at the rest it looks while it serves.
    public var inspectionSeconds = 5.0
    /// How long it then waits between two looks at some 30 pages, in microseconds.
    var inspectionPause: UInt32 = 8_000
    /// Bytes of memory for the search cache: the keys of fields that much is sorted by, eight
    /// bytes for each record, and the records of keys that are looked for often, an eighth of a byte
    /// for each record there is. With 0 there are none.
    public var searchCacheBytes = 128 << 20
    /// Pages in the write-ahead log, of 4 KiB each, at which a thread of its own begins to copy it into
    /// the database, and those who save go on.
    public var checkpointPages = 20_000
    /// Pages in the write-ahead log at which those who save wait until it is copied. It still grows
    /// beyond that as long as somebody reads from it.
    public var logPages = 80_000
    /// Entries of the notification log that wait in memory, some 200 bytes each, for being filed in its
    /// index by subscriber together; up to half as many come while they are filed.
    public var unfiledNotifications = 65_536
    /// How long to wait for another process that is writing.
    public var busyTimeoutMilliseconds = 10_000
    /// How long PostgreSQL may take for a statement.
    public var statementTimeoutMilliseconds = 60_000
    /// How long a transaction of a writer may do nothing until PostgreSQL ends it, so that a server that
    /// stands still does not hold up the others.
    public var idleTimeoutMilliseconds = 5_000

    public init() {}
  }

  public var role: Role
  /// Writes that may wait; one more is refused as ``StoreError/Code/overloaded``.
  public var waitingWrites = 10_000
  /// Connections of a server on PostgreSQL that write, each with its own thread. A tool has one, and so
  /// has a store in a file.
  public var writers = 4

  /// Writes that share a commit at most.
  public var writesPerCommit = 512
  /// Reads that may wait; one more is refused as ``StoreError/Code/overloaded``.
  public var waitingReads = 10_000
  /// Connections that only read, each with its own thread. A store in memory has none: its reads
  /// take turns with the writes.
  public var readers = 2
  /// How long deletions of records and zones are remembered for change feeds, in seconds; 90 days
  /// unless set. A change token from before a deletion that was forgotten has expired.
  public var deletionRetention = 90.0 * 24 * 60 * 60
  /// What is kept of users' notifications.
  public var notificationLog = NotificationLogLimits()
  /// What is kept of changes that were dispatched.
  public var changeHistory = ChangeHistoryLimits()
  public var tuning = Tuning()
  /// How far a search goes one way before it looks for another.
  var searchEffort = SearchEffort()
  /// Has each transaction concern one database, as where they are on several nodes.
  var separatesDatabases = false
  /// Stands for the store's own where a test compares what two stores give to clients.
  var tokens: TokenCipher?
  /// Stands for the clock of the database where a test moves time: nanoseconds since 1970.
  var steeredTime: (@Sendable () -> Int64)?
  /// The environments that have a fixed schema: record types, fields and subscription types that
  /// were not deployed to them are refused. In others they are made when they are first saved.
  public var fixedEnvironments: Set<ContainerEnvironment> = [.production]
  /// Takes the tables that PostgreSQL knows nothing of and could not look at, and why: what is asked of
  /// them may take long until it does by itself.
  public var onUnknownTable: @Sendable (_ table: String, any Error) -> Void = { _, _ in }
  /// Makes the identifiers of changes and users; a test may give a seeded generator.
  public var makeUUID: @Sendable () -> UUID = { RandomUUID.make() }

  public init(role: Role = .server) {
    self.role = role
  }
}
