import CloudKitModel

/// A process's claim to deliveries: until it ends nobody else takes them. One whose process died is
/// there for others again when the lease ends.
public struct DeliveryLease: Sendable, Hashable {
  /// Names the process.
  public var holder: Int64
  public var until: Timestamp

  public init(holder: Int64, until: Timestamp) {
    self.holder = holder
    self.until = until
  }
}

/// Which of the deliveries that a transaction would make are written, and how many of those the process
/// takes at once. What is beyond that waits in the store.
public struct DeliveryCapacity: Sendable {
  public var lease: DeliveryLease
  /// For the routes that are in use.
  public var capacities: [DeliveryRoute.ID: Int]
  /// For any other.
  public var otherCapacity: Int
  /// Deliveries that may be written before as many wait as the server lets.
  public var unwritten: Int
  /// How many may wait for each user.
  public var backlogs: UserBacklogs
  /// Whether the server has a way to a device. To one without nothing is written. It must not block.
  public var isSetUp: @Sendable (DeviceToken) -> Bool

  public init(
    lease: DeliveryLease, capacities: [DeliveryRoute.ID: Int], otherCapacity: Int,
    unwritten: Int = .max, backlogs: UserBacklogs = UserBacklogs(limit: .max),
    isSetUp: @escaping @Sendable (DeviceToken) -> Bool = { _ in true }
  ) {
    self.lease = lease
    self.capacities = capacities
    self.otherCapacity = otherCapacity
    self.unwritten = unwritten
    self.backlogs = backlogs
    self.isSetUp = isSetUp
  }
}
