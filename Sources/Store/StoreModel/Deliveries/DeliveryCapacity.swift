import CloudKitModel

/// A process's claim to deliveries. No other process takes them before the lease ends. If the
/// process ends without an outcome, others take them after that time.
public struct DeliveryLease: Sendable, Hashable {
  /// The number of the process; on a shared store, that of its ``ServerID``.
  public var holder: Int64
  /// The end of the lease.
  public var until: Timestamp

  /// Creates a claim of a process, which ends at `until`.
  public init(holder: Int64, until: Timestamp) {
    self.holder = holder
    self.until = until
  }
}

/// Limits on the deliveries that a transaction writes, and on those that it leases to the process
/// at once. The others wait in the store.
public struct DeliveryCapacity: Sendable {
  /// The lease for the deliveries that the transaction leases to the caller.
  public var lease: DeliveryLease
  /// The number to lease for each route in use.
  public var capacities: [DeliveryRoute.ID: Int]
  /// The number to lease for any other route.
  public var otherCapacity: Int
  /// The number of deliveries that may be written before the server's limit of waiting deliveries
  /// is reached.
  public var unwritten: Int
  /// The number that may wait for each user.
  public var backlogs: UserBacklogs
  /// Whether the server can deliver to a device; otherwise no delivery is written. It must not
  /// block.
  public var isSetUp: @Sendable (DeviceToken) -> Bool

  /// Creates limits; the defaults permit any number of waiting deliveries and any device.
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
