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
    /// A server. It locks a store in a file, so that only one server has the file open. Several
    /// servers may have a store on PostgreSQL open.
    case server
    /// A tool that may run beside a server, such as `petrel users add`. It does not lock the file.
    /// Its commits copy SQLite's write-ahead log into the database when the log has
    /// ``StoreConfiguration/Tuning/logPages`` pages.
    case tool
  }

  /// The settings of the engine and of memory, which rarely need a change.
  public struct Tuning: Sendable, Hashable {
    /// The size of the page cache of each SQLite connection, in KiB.
    public var cacheKilobytes = 256 * 1024
    /// The most seconds for which a server checks the checksums of a file's pages before it serves
    /// the store. The server checks the remaining pages while it serves.
    public var inspectionSeconds = 5.0
    /// The pause between two checks while the store is served, in microseconds. Each check reads
    /// about 30 pages.
    var inspectionPause: UInt32 = 8_000
    /// The memory of the search cache in bytes. 0 disables it.
    ///
    /// The cache has two kinds of entries. For a field by which searches often sort, an entry has
    /// the field's keys: eight bytes for each record. For a frequently searched key, an entry has
    /// the set of records with this key: an eighth of a byte for each record of the database. A
    /// store on PostgreSQL has no such cache.
    public var searchCacheBytes = 128 << 20
    /// The size of SQLite's write-ahead log, in pages of 4 KiB, at which a server's thread begins
    /// to copy the log into the database file. Writes continue meanwhile.
    public var checkpointPages = 20_000
    /// The size of SQLite's write-ahead log, in pages of 4 KiB, at which a server's writes wait
    /// until the log is copied. The log can still become larger while a connection reads from it.
    public var logPages = 80_000
    /// The number of entries of the notification log that are collected in memory, to insert them
    /// together into the log's index by subscriber. An entry has about 200 bytes. While these
    /// entries are inserted, about half as many new ones arrive. A store on PostgreSQL collects no
    /// entries.
    public var unfiledNotifications = 65_536
    /// The most milliseconds that an SQLite connection waits for another process that is writing.
    /// On PostgreSQL, the most milliseconds that a statement waits for a lock.
    public var busyTimeoutMilliseconds = 10_000
    /// PostgreSQL's time limit for a statement, in milliseconds.
    public var statementTimeoutMilliseconds = 60_000
    /// The most milliseconds between two statements of a writing transaction, after which
    /// PostgreSQL ends the transaction. So a server that hangs blocks other servers only for this
    /// time.
    public var idleTimeoutMilliseconds = 5_000
    /// The milliseconds without a byte from PostgreSQL, after which a connection that waits for an
    /// answer asks over a second connection whether PostgreSQL can be reached. It is far more than
    /// most statements take, so that the question is rare.
    public var silenceMilliseconds = 2_000
    /// The most milliseconds that this question may take, after which the first connection counts as
    /// lost. A busy machine takes less than a second for a new connection. Together with the silence
    /// the time is short enough for people who wait for an answer.
    public var probeMilliseconds = 5_000

    /// Creates the default settings.
    public init() {}
  }

  /// The role of this process. The lock, the checks and the threads of the store depend on it.
  public var role: Role
  /// The most waiting writes; further ones fail with ``StoreError/Code/overloaded``.
  public var waitingWrites = 10_000
  /// The number of writing connections of a server on PostgreSQL, each with its own thread; a
  /// number below 1 counts as 1. A tool and a store on SQLite have one writing connection.
  public var writers = 4

  /// The most writes that one transaction commits together; a number below 1 counts as 1.
  public var writesPerCommit = 512
  /// The most waiting reads; further ones fail with ``StoreError/Code/overloaded``.
  public var waitingReads = 10_000
  /// The number of connections that only read, each with its own thread. With 0, and for a store in
  /// memory, the writing thread also reads.
  public var readers = 2
  /// The seconds for which tombstones are kept, 90 days by default. A tombstone is the record that
  /// a record or a zone was deleted; change feeds report deletions by it. If a tombstone is deleted
  /// before a client has got it, the client's change token expires.
  public var deletionRetention = 90.0 * 24 * 60 * 60
  /// The retention of users' notifications.
  public var notificationLog = NotificationLogLimits()
  /// The retention of dispatched changes.
  public var changeHistory = ChangeHistoryLimits()
  /// The settings of the engine and of memory.
  public var tuning = Tuning()
  /// The estimated costs of the steps of a search, by which searches are planned.
  var searchEffort = SearchEffort()
  /// Whether each transaction concerns only one database, as in a distributed store. Tests set it
  /// for stores that are not distributed.
  var separatesDatabases = false
  /// The cipher that replaces the store's own cipher in tests. Some tests compare the encrypted
  /// texts of two stores. Nil uses the store's own cipher.
  var tokens: TokenCipher?
  /// The clock that replaces the database's clock in tests, in nanoseconds since 1970. Nil uses the
  /// database's clock.
  var steeredTime: (@Sendable () -> Int64)?
  /// The environments with a fixed schema. There the store refuses record types, fields and
  /// subscription types that the schema does not have. In other environments, saving a new one adds
  /// it to the schema.
  public var fixedEnvironments: Set<ContainerEnvironment> = [.production]
  /// The handler that is called when PostgreSQL has no statistics of a table and could not collect
  /// them. It gets the table's name and the error. Statements about the table may be slow until
  /// PostgreSQL collects the statistics by itself.
  public var onUnknownTable: @Sendable (_ table: String, any Error) -> Void = { _, _ in }
  /// The source of the identifiers of changes and users: random by default. A test may use a
  /// generator with a seed.
  public var makeUUID: @Sendable () -> UUID = { RandomUUID.make() }

  /// Creates the default configuration for a role.
  public init(role: Role = .server) {
    self.role = role
  }
}
