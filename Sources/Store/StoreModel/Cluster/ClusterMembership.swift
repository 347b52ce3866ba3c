/// The registrations of the servers that share a store, and the messages between the servers.
///
/// A server calls the methods every few seconds. The store runs them on a connection of their own,
/// so that many saves do not delay a renewal. They throw ``StoreError/Code/unreachable`` if the
/// database server cannot be reached.
public protocol ClusterMembership: Sendable {
  /// Registers this server for `leaseTime` seconds. From now on, changes that it commits are leased
  /// to it.
  ///
  /// - Parameter description: a text for people that says where the server runs.
  func registerServer(_ description: String, for leaseTime: Double) async throws -> ServerID
  /// Renews the registration for `leaseTime` seconds and removes expired servers.
  ///
  /// - Returns: the other servers; nil if another server removed this one, which then has to
  ///   register again.
  func renewServer(_ server: ServerID, for leaseTime: Double) async throws -> ServerRenewal?
  /// Ends the registration and releases the server's leases.
  func unregisterServer(_ server: ServerID) async throws
  /// Sends an announcement to the other servers.
  func announce(_ announcement: Announcement, from server: ServerID) async throws
  /// Returns the other servers' announcements since the last reading, and the position for the next
  /// one. The first reading, from a new ``AnnouncementPosition``, returns none. Announcements are
  /// kept for a minute.
  func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) async throws -> (announcements: [Announcement], position: AnnouncementPosition)
  /// Deletes announcements that a server made more than a minute ago.
  func trimAnnouncements(of server: ServerID) async throws
  /// Sets the handler for other servers' notifications, which is called on a thread of the store;
  /// nil removes it.
  ///
  /// Notifications arrive only where PostgreSQL passes them on, which not every pool and not every
  /// cluster does.
  func setNotificationHandler(_ handler: (@Sendable (ServerNotification) -> Void)?)
  /// Notifies all servers, this one included, that this server is registered.
  func announceMembership(of server: ServerID) async throws
}
