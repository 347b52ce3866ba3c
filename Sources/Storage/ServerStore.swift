import CloudKitModel

/// Names a server that has a shared store open. One that was taken for gone gets another when it comes
/// again.
public struct ServerID: RawRepresentable, Sendable, Hashable {
  public var rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }
}

/// A server that has the store open, or had it a moment ago.
public struct RegisteredServer: Sendable, Hashable {
  public var id: ServerID
  /// For people: where it runs.
  public var description: String
  /// When it is taken for gone unless it renews its registration before, by the store's clock.
  public var aliveUntil: Timestamp
}

/// What a server learns when it renews its registration.
public struct ServerRenewal: Sendable, Hashable {
  /// The others.
  public var others: [RegisteredServer] = []
  /// Those whose time was over, which this renewal has struck off.
  public var gone: [ServerID] = []
}

/// A database whose changes nobody dispatches.
public struct FreeDatabase: Sendable, Hashable {
  public var id: DatabaseID
  /// Who did, and is gone; 0 for nobody.
  var formerHolder: Int64
}

/// What one server tells the others: for whom there are notifications in the log.
public struct Announcement: Sendable, Hashable {
  /// Their user record names; nil for everybody.
  public var subscribers: Set<String>?

  public init(subscribers: Set<String>?) {
    self.subscribers = subscribers
  }
}

/// Up to where the announcements of others were read.
public struct AnnouncementPosition: Sendable, Hashable {
  struct Name: Sendable, Hashable {
    var server: Int64
    var number: Int64
  }

  /// By the store's clock; nil before the first reading.
  var time: Int64?
  /// Those read that are hardly older: others of the same time may have come to light since.
  var known: [Name: Int64] = [:]

  public init() {}
}

/// What the servers that share a store know of each other, and which of them dispatches the changes of
/// a database.
///
/// A server registers and renews its registration. One whose time is over is struck off by whoever
/// notices first, and its leases are free: a lease is good as long as its holder is registered, so that
/// one row is renewed for all of them, as with the epochs of CockroachDB. Whoever commits changes makes
/// the lease of their database for itself, in the same transaction, or leaves word for its holder; these
/// rows are the pointers of QuiCK (SIGMOD 2021). All times are the store's.
///
/// Leases decide who works, not what is right: the changes of a database are dispatched in order and
/// once whoever does it (``RecordStore/completeDispatch(of:timestamp:leasing:)``).
public protocol ServerStore: Sendable {
  /// Registers this server for so many seconds. From now on the changes that it commits are leased to it.
  func registerServer(_ description: String, for leaseTime: Double) async throws -> ServerID
  /// Renews the registration for so many seconds, and strikes off those whose time is over; nil when
  /// this server itself was struck off.
  func renewServer(_ server: ServerID, for leaseTime: Double) async throws -> ServerRenewal?
  /// Ends the registration; what the server had is free.
  func unregisterServer(_ server: ServerID) async throws
  /// Those that are registered, in the order in which they came.
  func servers() async throws -> [RegisteredServer]
  /// The same for people, with what each of them dispatches.
  func listedServers() async throws -> [ListedServer]

  /// The databases that are leased to a server.
  func leasedDatabases(of server: ServerID) async throws -> [DatabaseID]
  func isLeased(_ database: DatabaseID, to server: ServerID) async throws -> Bool
  /// The databases leased to a server in which another has committed changes since this was asked last.
  func awaitedDatabases(of server: ServerID) async throws -> [DatabaseID]
  /// Databases behind `database` that may have changes and that nobody dispatches, in order.
  func freeDatabases(after database: DatabaseID, limit: Int) async throws -> [FreeDatabase]
  /// Leases a database to a server; false when another was quicker.
  func lease(_ database: FreeDatabase, to server: ServerID) async throws -> Bool
  /// Ends a lease when all changes of the database are dispatched; false when some wait.
  func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool

  /// Tells the other servers something.
  func announce(_ announcement: Announcement, from server: ServerID) async throws
  /// What others have told since the last time, and before the first reading nothing. Announcements are
  /// kept for a minute.
  func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) async throws -> (announcements: [Announcement], position: AnnouncementPosition)
  /// Drops announcements that a server made more than a minute ago.
  func trimAnnouncements(of server: ServerID) async throws
}
