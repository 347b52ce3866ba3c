/// A registered server with the number of its leases, at one moment. A lease is the right to
/// dispatch a database's changes.
public struct ListedServer: Sendable, Hashable {
  /// The server's ID.
  public var id: ServerID
  /// A text for people: where the server runs.
  public var description: String
  /// The seconds until the registration expires, unless the server renews it. The value is negative
  /// for an expired registration that no server has removed yet.
  public var secondsLeft: Double
  /// The number of the server's leases. Each part of a divided database counts as one.
  public var leasedDatabases: Int
  /// The number of those leases with a pending wake-up: another process has committed changes, and
  /// this server has not cleared the mark yet.
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
