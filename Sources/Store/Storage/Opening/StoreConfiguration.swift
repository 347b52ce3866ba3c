import CloudKitModel
import Foundation
import StoreModel

/// The configuration of an open store.
public struct StoreConfiguration: Sendable {
  /// The role of the process that opens the store.
  public enum Role: Sendable, Hashable {
    /// The server: only one may have the store open.
    case server
    /// A tool that runs beside the server, such as `petrel users add`.
    case tool
  }

  /// The engine's own settings.
  public struct Tuning: Sendable, Hashable {
    /// Page cache of each connection, in KiB.
    public var cacheKilobytes = 256 * 1024
    /// How long a server checks the checksums of its store's pages before it serves the store, in
    /// seconds. It checks the rest while it serves.
    public var inspectionSeconds = 5.0
    /// The pause between two later checks of some 30 pages, in microseconds.
    var inspectionPause: UInt32 = 8_000
    /// The memory of the search cache in bytes. The cache holds the keys of fields that are often
    /// sorted by, at eight bytes for each record, and the records of frequently searched keys, at
    /// an eighth of a byte for each record of the database. 0 disables it.
    public var searchCacheBytes = 128 << 20
    /// The size of the write-ahead log, in pages of 4 KiB, at which a thread begins to copy it into
    /// the database. Writes continue meanwhile.
    public var checkpointPages = 20_000
    /// The size of the write-ahead log, in pages, at which writes wait until it is copied. It still
    /// grows beyond that while a connection reads from it.
    public var logPages = 80_000
    /// The number of log entries, some 200 bytes each, that wait in memory to be filed together in
    /// the log's index by subscriber. Up to half as many arrive while they are filed.
    public var unfiledNotifications = 65_536
    /// How long to wait for another process that is writing.
    public var busyTimeoutMilliseconds = 10_000
    /// PostgreSQL's time limit for a statement.
    public var statementTimeoutMilliseconds = 60_000
    /// How long a writer's transaction may be idle before PostgreSQL ends it, so that a server that
    /// hangs does not block the others.
    public var idleTimeoutMilliseconds = 5_000

    public init() {}
  }

  public var role: Role
  /// The most waiting writes; further ones fail with ``StoreError/Code/overloaded``.
  public var waitingWrites = 10_000
  /// The writing connections of a server on PostgreSQL, each with its own thread. A tool has one,
  /// and so has a store in a file.
  public var writers = 4

  /// The most writes that share a commit.
  public var writesPerCommit = 512
  /// The most waiting reads; further ones fail with ``StoreError/Code/overloaded``.
  public var waitingReads = 10_000
  /// The read-only connections, each with its own thread. A store in memory has none: its reads
  /// share the writer's thread.
  public var readers = 2
  /// How long tombstones of records and zones are kept for change feeds, in seconds; 90 days by
  /// default. A change token from before a deleted tombstone has expired.
  public var deletionRetention = 90.0 * 24 * 60 * 60
  /// The retention of users' notifications.
  public var notificationLog = NotificationLogLimits()
  /// The retention of dispatched changes.
  public var changeHistory = ChangeHistoryLimits()
  public var tuning = Tuning()
  /// The costs by which searches are planned.
  var searchEffort = SearchEffort()
  /// Whether each transaction concerns one database, as in a distributed store.
  var separatesDatabases = false
  /// For tests that compare what two stores give to clients: replaces the store's own cipher.
  var tokens: TokenCipher?
  /// For tests that move time: replaces the database's clock, in nanoseconds since 1970.
  var steeredTime: (@Sendable () -> Int64)?
  /// The environments with a fixed schema: undeployed record types, fields and subscription types
  /// are refused there. In other environments they are created when they are first saved.
  public var fixedEnvironments: Set<ContainerEnvironment> = [.production]
  /// Called for each table without statistics that PostgreSQL could not analyze, with the reason.
  /// Queries of the table may be slow until PostgreSQL analyzes it by itself.
  public var onUnknownTable: @Sendable (_ table: String, any Error) -> Void = { _, _ in }
  /// Makes the identifiers of changes and users; a test may use a seeded generator.
  public var makeUUID: @Sendable () -> UUID = { RandomUUID.make() }

  public init(role: Role = .server) {
    self.role = role
  }
}
