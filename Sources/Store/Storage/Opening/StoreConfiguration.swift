import CloudKitModel
import Foundation
import StoreModel

/// The configuration of an open store. Changes after opening have no effect.
///
/// ```swift
/// var configuration = StoreConfiguration(role: .server)
/// configuration.readers = 4
/// configuration.notificationLog.entries = 1_000
/// let store = try await Store.open(at: path, configuration: configuration)
/// ```
public struct StoreConfiguration: Sendable {
  /// The role of the process that opens the store.
  public enum Role: Sendable, Hashable {
    /// A server. It locks a store in a file against other servers; several may serve a store on
    /// PostgreSQL.
    case server
    /// A tool that may run beside a server, such as `petrel users add`. Its commits copy SQLite's
    /// write-ahead log at ``StoreConfiguration/Tuning/logPages``.
    case tool
  }

  /// The settings of the engine and of memory, which rarely need a change.
  public struct Tuning: Sendable, Hashable {
    /// The KiB of each SQLite connection's page cache.
    public var cacheKilobytes = 256 * 1024
    /// The most seconds for which a server checks pages before it serves the store. It checks the
    /// rest while it serves.
    public var inspectionSeconds = 5.0
    /// The microseconds between two checks of about 30 pages while the store is served.
    var inspectionPause: UInt32 = 8_000
    /// The bytes of the search cache; 0 disables it. PostgreSQL has none.
    ///
    /// An entry has a field's keys, if searches often sort by it: eight bytes for each record. Or
    /// it has the set of records with a frequently searched key: an eighth of a byte for each
    /// record of the database.
    public var searchCacheBytes = 128 << 20
    /// The pages of 4 KiB in SQLite's write-ahead log at which a server's thread begins to copy it
    /// into the database. Writes continue meanwhile.
    public var checkpointPages = 20_000
    /// The pages at which a server's writes wait until the log is copied. The log can still become
    /// larger while a connection reads from it.
    public var logPages = 80_000
    /// The entries of the notification log that are collected in memory, about 200 bytes each, and
    /// then inserted together into the log's index. Meanwhile about half as many new ones arrive.
    /// PostgreSQL collects none.
    public var unfiledNotifications = 65_536
    /// The most milliseconds that an SQLite connection waits for another writing process, and a
    /// statement on PostgreSQL for a lock.
    public var busyTimeoutMilliseconds = 10_000
    /// PostgreSQL's time limit for a statement, in milliseconds.
    public var statementTimeoutMilliseconds = 60_000
    /// The milliseconds between two statements after which PostgreSQL ends a writing transaction,
    /// so that a server that hangs blocks others no longer.
    public var idleTimeoutMilliseconds = 5_000
    /// The same for a transaction that locks databases before it reads them. The writer repeats a
    /// transaction that ended so, with the longer timeout.
    public var lockedIdleTimeoutMilliseconds = 250
    /// The milliseconds without a byte from PostgreSQL after which a waiting connection asks over
    /// a second one whether PostgreSQL can be reached. Far more than most statements take, so that
    /// the question is rare.
    public var silenceMilliseconds = 2_000
    /// The milliseconds after which the unanswered question makes the first connection count as
    /// lost. A busy machine takes less than a second for a new connection. Together with the
    /// silence, people can wait for it.
    public var probeMilliseconds = 5_000

    /// Creates the default settings.
    public init() {}
  }

  /// The role, on which the lock, the checks and the threads depend.
  public var role: Role
  /// The most waiting writes; further ones fail with ``StoreError/Code/overloaded``.
  public var waitingWrites = 10_000
  /// The writing connections of a server on PostgreSQL, each with its own thread, at least 1. A
  /// store in a file has one, and so has a tool.
  public var writers = 4

  /// The most writes of one commit, at least 1.
  public var writesPerCommit = 512
  /// The most waiting reads; further ones fail with ``StoreError/Code/overloaded``.
  public var waitingReads = 10_000
  /// The connections that only read, each with its own thread. With 0, and for a store in memory,
  /// the writing thread also reads.
  public var readers = 2
  /// The seconds for which tombstones are kept: the deletions that change feeds report. If one is
  /// deleted before a client has got it, the client's change token expires.
  public var deletionRetention = 90.0 * 24 * 60 * 60
  /// The retention of users' notifications.
  public var notificationLog = NotificationLogLimits()
  /// The retention of dispatched changes.
  public var changeHistory = ChangeHistoryLimits()
  /// The settings of the engine and of memory.
  public var tuning = Tuning()
  /// The estimated costs of the steps of a search, by which searches are planned.
  var searchEffort = SearchEffort()
  /// Whether each transaction concerns only one database, as in a distributed store, for tests.
  var separatesDatabases = false
  /// Replaces the store's cipher in tests that compare the encrypted texts of two stores.
  var tokens: TokenCipher?
  /// Replaces the database's clock in tests: nanoseconds since 1970.
  var steeredTime: (@Sendable () -> Int64)?
  /// The environments where the store refuses record types, fields and subscription types that the
  /// schema lacks. Elsewhere, saving a new one adds it to the schema.
  public var fixedEnvironments: Set<ContainerEnvironment> = [.production]
  /// Called when PostgreSQL has no statistics of a table and could not collect them. Statements
  /// about the table may be slow until PostgreSQL collects them by itself.
  public var onUnknownTable: @Sendable (_ table: String, any Error) -> Void = { _, _ in }
  /// The source of the identifiers of changes and users, for tests with a seed.
  public var makeUUID: @Sendable () -> UUID = { RandomUUID.make() }

  /// Creates the default configuration for a role.
  public init(role: Role = .server) {
    self.role = role
  }
}
