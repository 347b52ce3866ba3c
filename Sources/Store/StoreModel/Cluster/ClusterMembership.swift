/// The registrations of the servers that share a store, and the messages between these servers. A
/// server is a member of the cluster while its registration is valid.
///
/// Servers call most of the methods every few seconds. The store runs them on a connection and a
/// thread of their own, so that many saves do not delay a renewal. The methods throw
/// ``StoreError/Code/unreachable`` if the database server cannot be reached, and
/// ``StoreError/Code/overloaded`` if 1,000 calls wait.
public protocol ClusterMembership: Sendable {
  /// Registers this server for `leaseTime` seconds. When the server later commits changes of a
  /// database without a lease, it gets the lease (``DispatchLeases``).
  ///
  /// - Parameter description: a text for people that says where the server runs.
  /// - Returns: the server's new ID.
  func registerServer(_ description: String, for leaseTime: Double) async throws -> ServerID
  /// Renews the registration for `leaseTime` seconds from now, and removes the expired
  /// registrations of other servers.
  ///
  /// - Returns: the other servers; nil if another server has removed this server's registration.
  ///   This server must then register again.
  func renewServer(_ server: ServerID, for leaseTime: Double) async throws -> ServerRenewal?
  /// Ends a server's registration. Other servers can then take over its leases.
  func unregisterServer(_ server: ServerID) async throws
  /// Sends an announcement to the other servers.
  func announce(_ announcement: Announcement, from server: ServerID) async throws
  /// Returns the other servers' announcements after a position, and the position for the next call.
  /// The first call passes a new ``AnnouncementPosition`` and gets no announcements. The store
  /// keeps an announcement for at least a minute.
  func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) async throws -> (announcements: [Announcement], position: AnnouncementPosition)
  /// Deletes the announcements that this server made more than a minute ago.
  func trimAnnouncements(of server: ServerID) async throws
  /// Sets the handler for notifications between servers; nil removes the handler. A thread of the
  /// store calls it.
  ///
  /// The notifications are those of PostgreSQL (`NOTIFY`). Some connection pools and some clusters
  /// do not transmit them.
  func setNotificationHandler(_ handler: (@Sendable (ServerNotification) -> Void)?)
  /// Sends ``ServerNotification/joined(_:)`` to all servers that listen, this server included.
  func announceMembership(of server: ServerID) async throws
}
