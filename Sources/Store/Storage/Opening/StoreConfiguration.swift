import CloudKitModel
import Foundation
import StoreModel

/// The configuration of an open store. Changes after opening have no effect.
///
/// ```swift
/// var configuration = StoreConfiguration(role: .server)
/// configuration.readers = 4
/// configuration.notificationLog.entries = 1_000
/// let store = try await SQLStore.open(at: path, configuration: configuration)
/// ```
public struct StoreConfiguration: Sendable {
  /// The role of the process that opens the store. A tool does not lock the file. Its commits copy
  /// the log only when it has ``StoreConfiguration/Tuning/logPages`` pages.
  public enum Role: Sendable, Hashable {
    /// The server: only one may have the store open.
    case server
    /// A tool that runs beside the server, such as `petrel users add`.
    case tool
  }

  /// The engine's own settings.
  public struct Tuning: Sendable, Hashable {
    /// The page cache of each SQLite connection, in KiB.
    public var cacheKilobytes = 256 * 1024
    /// The time in seconds in which a server checks the checksums of its store's pages before it
    /// serves the store. The server checks the rest while it serves.
    public var inspectionSeconds = 5.0
    /// The pause between two later checks of some 30 pages, in microseconds.
    var inspectionPause: UInt32 = 8_000
    /// The memory of the search cache in bytes. 0 disables it.
    ///
    /// The cache holds the keys of fields that are often sorted by: eight bytes for each record. It
    /// also holds the records of frequently searched keys: an eighth of a byte for each record of
    /// the database.
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
    /// The time in milliseconds that a connection waits for another process that is writing. On
    /// PostgreSQL it limits the wait for a lock.
    public var busyTimeoutMilliseconds = 10_000
    /// PostgreSQL's time limit for a statement, in milliseconds.
    public var statementTimeoutMilliseconds = 60_000
    /// The time in milliseconds that a writer's transaction may be idle before PostgreSQL ends it.
    /// A server that hangs thus does not block the others for longer.
    public var idleTimeoutMilliseconds = 5_000

    /// Creates the default settings.
    public init() {}
  }

  /// The role of this process. It decides on the lock, the checks and the threads.
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
  /// The time in seconds for which tombstones of records and zones are kept for change feeds; 90
  /// days by default. A change token from before a deleted tombstone has expired.
  public var deletionRetention = 90.0 * 24 * 60 * 60
  /// The retention of users' notifications.
  public var notificationLog = NotificationLogLimits()
  /// The retention of dispatched changes.
  public var changeHistory = ChangeHistoryLimits()
  /// The engine's own settings.
  public var tuning = Tuning()
  /// The costs by which searches are planned.
  var searchEffort = SearchEffort()
  /// Whether each transaction concerns one database, as in a distributed store.
  var separatesDatabases = false
  /// A cipher in place of the store's own, for tests that compare the texts that two stores give to
  /// clients.
  var tokens: TokenCipher?
  /// A clock in place of the database's, in nanoseconds since 1970, for tests that move time.
  var steeredTime: (@Sendable () -> Int64)?
  /// The environments with a fixed schema: undeployed record types, fields and subscription types
  /// are refused there. In other environments they are created when they are first saved.
  public var fixedEnvironments: Set<ContainerEnvironment> = [.production]
  /// The handler that is called for each table without statistics that PostgreSQL could not
  /// analyze, with the reason. Queries of the table may be slow until PostgreSQL analyzes it by
  /// itself.
  public var onUnknownTable: @Sendable (_ table: String, any Error) -> Void = { _, _ in }
  /// The source of identifiers of changes and users. A test may use a seeded generator.
  public var makeUUID: @Sendable () -> UUID = { RandomUUID.make() }

  /// Creates the default configuration for a role.
  public init(role: Role = .server) {
    self.role = role
  }
}
