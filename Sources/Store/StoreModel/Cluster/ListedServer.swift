/// A server that has the store open and the number of its leases, at one moment.
public struct ListedServer: Sendable, Hashable {
  /// The server's ID.
  public var id: ServerID
  /// A text for people: where the server runs.
  public var description: String
  /// Seconds by the store's clock until the registration expires, unless it is renewed; negative
  /// for an expired registration that is not yet removed.
  public var secondsLeft: Double
  /// The number of leases of the server: one for each database whose changes it dispatches. In a
  /// divided database each part has a lease of its own and counts as one.
  public var leasedDatabases: Int
  /// The number of those leases with changes that another server has committed and that this server
  /// has not read yet.
  public var pendingWakeUps: Int

  /// Creates a list element from a server's row and the counts of its leases.
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
