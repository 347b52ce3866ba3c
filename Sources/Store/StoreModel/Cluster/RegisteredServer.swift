import CloudKitModel

/// The identity of a server that has a shared store open. A server that returns after its
/// registration expired gets a new ID.
public struct ServerID: RawRepresentable, Sendable, Hashable {
  /// The number of the server's row in the table `servers`.
  public var rawValue: Int64

  /// Restores an ID from its number.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }
}

/// A server that has the store open, or had it open until its registration expired.
public struct RegisteredServer: Sendable, Hashable {
  /// The server's ID.
  public var id: ServerID
  /// A text for people: where the server runs.
  public var description: String
  /// The time at which the registration expires unless it is renewed, by the store's clock.
  public var aliveUntil: Timestamp

  /// Creates a server from its row.
  package init(id: ServerID, description: String, aliveUntil: Timestamp) {
    self.id = id
    self.description = description
    self.aliveUntil = aliveUntil
  }
}

/// The result of a renewal: the state of the cluster as this server sees it.
public struct ServerRenewal: Sendable, Hashable {
  /// The other registered servers.
  public var others: [RegisteredServer] = []
  /// Expired servers that this renewal removed.
  public var gone: [ServerID] = []

  /// The result of a renewal that found no other server.
  package init() {}
}
