/// A server that has the store open, with what it dispatches, at one moment.
public struct ListedServer: Sendable, Hashable {
  public var id: ServerID
  /// For people: where it runs.
  public var description: String
  /// Seconds by the store's clock until it is taken for gone unless it renews its registration;
  /// negative when that should have happened.
  public var secondsLeft: Double
  /// Databases whose changes it dispatches.
  public var leasedDatabases: Int
  /// Those of them in which another server has committed changes that it has not looked at yet.
  public var awaitedDatabases: Int

  package init(
    id: ServerID, description: String, secondsLeft: Double, leasedDatabases: Int,
    awaitedDatabases: Int
  ) {
    self.id = id
    self.description = description
    self.secondsLeft = secondsLeft
    self.leasedDatabases = leasedDatabases
    self.awaitedDatabases = awaitedDatabases
  }
}
