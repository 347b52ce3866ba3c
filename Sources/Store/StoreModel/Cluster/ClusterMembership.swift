/// Registers a server among those that share a store, and passes on what they tell each other.
public protocol ClusterMembership: Sendable {
  /// Registers this server for so many seconds. From now on the changes that it commits are leased to it.
  func registerServer(_ description: String, for leaseTime: Double) async throws -> ServerID
  /// Renews the registration for so many seconds, and strikes off those whose time is over; nil when
  /// this server itself was struck off.
  func renewServer(_ server: ServerID, for leaseTime: Double) async throws -> ServerRenewal?
  /// Ends the registration; what the server had is free.
  func unregisterServer(_ server: ServerID) async throws
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
