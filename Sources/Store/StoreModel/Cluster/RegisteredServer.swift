import CloudKitModel

/// The identity of a server that has a shared store open. Each registration gets a new ID, also
/// that of a server whose earlier registration expired.
public struct ServerID: RawRepresentable, Sendable, Hashable {
  /// The number of the row in the table `servers`.
  public var rawValue: Int64

  /// Restores an ID from its number.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }
}

/// A registered server. Its registration may have expired, if no server has removed it yet.
public struct RegisteredServer: Sendable, Hashable {
  /// The server's ID.
  public var id: ServerID
  /// Where the server runs: a text for people.
  public var description: String
  /// The time at which the registration expires unless the server renews it, by the store's clock.
  public var aliveUntil: Timestamp

  package init(id: ServerID, description: String, aliveUntil: Timestamp) {
    self.id = id
    self.description = description
    self.aliveUntil = aliveUntil
  }
}

/// The result of a renewal: the other servers of the cluster.
public struct ServerRenewal: Sendable, Hashable {
  /// The other registered servers.
  public var others: [RegisteredServer] = []
  /// Expired servers that this renewal removed.
  public var gone: [ServerID] = []

  package init() {}
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

  package init(
    id: ServerID, description: String, secondsLeft: Double, leasedDatabases: Int,
    pendingWakeUps: Int
  ) {
    self.id = id
    self.description = description
    self.secondsLeft = secondsLeft
    self.leasedDatabases = leasedDatabases
    self.pendingWakeUps = pendingWakeUps
  }
}
