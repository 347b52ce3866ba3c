import CloudKitModel
import StoreModel

/// A registered server. Its registration may have expired, if no server has removed it yet.
public struct RegisteredServer: Sendable, Hashable {
  /// The server's ID.
  public var id: ServerID
  /// Where the server runs: a text for people.
  public var description: String
  /// The time at which the registration expires unless the server renews it, by the store's clock.
  public var aliveUntil: Timestamp
}

/// The result of a renewal: the other servers of the cluster.
public struct ServerRenewal: Sendable, Hashable {
  /// The other registered servers.
  public var others: [RegisteredServer] = []
  /// Expired servers that this renewal removed.
  public var gone: [ServerID] = []
}

/// A registered server with the number of its leases, at one moment. A lease is the right to
/// dispatch a database's changes.
public struct ListedServer: Sendable, Hashable {
  /// The server's ID.
  public var id: ServerID
  /// The server's ``RegisteredServer/description``.
  public var description: String
  /// The seconds until the registration expires unless it is renewed. Negative for an expired
  /// registration that no server has removed yet.
  public var secondsLeft: Double
  /// The number of the server's leases. Each part of a divided database counts as one.
  public var leasedDatabases: Int
  /// The leases with a pending wake-up: another process has committed changes, and this server has
  /// not cleared the mark yet.
  public var pendingWakeUps: Int
}
