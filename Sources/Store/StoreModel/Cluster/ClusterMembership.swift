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
  /// Has this called, on a thread of the store's, with the notifications of other servers; nil ends it.
  ///
  /// Notifications arrive where PostgreSQL passes them on, which not every pool and not every cluster does.
  func setNotificationHandler(_ handler: (@Sendable (ServerNotification) -> Void)?)
  /// Sends all servers, this one too, the notification that it is registered.
  func announceMembership(of server: ServerID) async throws
}
