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

  /// What is leased to a server.
  func leasedParts(of server: ServerID) async throws -> [DatabasePart]
  func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool
  /// What is leased to a server and another has committed changes of since this was asked last.
  func awaitedParts(of server: ServerID) async throws -> LeftWord
  /// Databases behind `database` that may have changes and that nobody dispatches, in order; those that
  /// are divided are not among them.
  func freeDatabases(after database: DatabaseID, limit: Int) async throws -> [FreePart]
  /// The parts of all databases that are divided, in order.
  func dividedDatabases() async throws -> [PartLease]
  /// Leases a database or a part of one to a server; false when another was quicker.
  func lease(_ part: FreePart, to server: ServerID) async throws -> Bool
  /// Ends the lease of a whole database when all of its changes are dispatched; false when some wait.
  func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool
  /// Ends the lease of a part of a divided database, for another server to take it.
  func release(_ part: DatabasePart, by server: ServerID) async throws

  // MARK: Partitions

  /// Into how many parts a database is divided.
  func partition(of database: DatabaseID) async throws -> Partition
  /// Divides a database into so many parts, or makes it whole again with 1. The changes that are there
  /// are dispatched in the parts there were, the first of those after them when that is done.
  ///
  /// - Parameter parts: one of ``DatabasePart/counts``.
  /// - Throws: ``StoreError/Code/notFound`` for a database that is not there.
  @discardableResult
  func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition

  /// Tells the other servers something.
  func announce(_ announcement: Announcement, from server: ServerID) async throws
  /// What others have told since the last time, and before the first reading nothing. Announcements are
  /// kept for a minute.
  func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) async throws -> (announcements: [Announcement], position: AnnouncementPosition)
  /// Drops announcements that a server made more than a minute ago.
  func trimAnnouncements(of server: ServerID) async throws

  /// Has this called, on a thread of the store's, with what other servers give notice of; nil ends it.
  ///
  /// Notices come where the PostgreSQL lets them through, which not every pool and not every cluster does.
  func setNoticeHandler(_ handler: (@Sendable (ServerNotice) -> Void)?)
  /// Gives all servers, this one too, notice that it is there.
  func tellOfPresence(_ server: ServerID) async throws
}
