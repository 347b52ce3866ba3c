import CloudKitModel

/// The right of one process to send some deliveries. No other process sends them before the lease
/// ends. If the process writes no outcome by then, other processes can lease the deliveries.
public struct DeliveryLease: Sendable, Hashable {
  /// The number of the process. On a shared store, it is the raw value of the process's
  /// ``ServerID``.
  public var holder: Int64
  /// The end of the lease.
  public var until: Timestamp

  /// Creates a lease of a process, which ends at `until`.
  public init(holder: Int64, until: Timestamp) {
    self.holder = holder
    self.until = until
  }
}

/// Limits for a transaction of the dispatcher: on the deliveries that the transaction writes, and
/// on those that it leases to the calling process at once. Deliveries that are written but not
/// leased wait in the store.
public struct DeliveryCapacity: Sendable {
  /// The lease for the deliveries that the transaction leases to the caller.
  public var lease: DeliveryLease
  /// The number of deliveries to lease for each route on which the process sends already.
  public var capacities: [DeliveryRoute.ID: Int]
  /// The number of deliveries to lease for each other route.
  public var otherCapacity: Int
  /// The number of deliveries that the transaction may write. Beyond it, too many deliveries would
  /// wait on the server.
  public var unwritten: Int
  /// The limit of waiting deliveries for each user, with estimates of the present numbers.
  public var backlogs: UserBacklogs
  /// Returns whether the server has a channel to a device. If false, the transaction writes no
  /// delivery to the device. The function must not block.
  public var isSetUp: @Sendable (DeviceToken) -> Bool

  /// Returns whether the push service has refused a device for good, so that nothing is sent to it until it
  /// is registered anew. Its deliveries are written, so that each has its reason. The function must not
  /// block.
  public var isRefused: @Sendable (DeviceToken) -> Bool

  /// Creates limits; the defaults permit any number of waiting deliveries and any device.
  public init(
    lease: DeliveryLease, capacities: [DeliveryRoute.ID: Int], otherCapacity: Int,
    unwritten: Int = .max, backlogs: UserBacklogs = UserBacklogs(limit: .max),
    isSetUp: @escaping @Sendable (DeviceToken) -> Bool = { _ in true },
    isRefused: @escaping @Sendable (DeviceToken) -> Bool = { _ in false }
  ) {
    self.lease = lease
    self.capacities = capacities
    self.otherCapacity = otherCapacity
    self.unwritten = unwritten
    self.backlogs = backlogs
    self.isSetUp = isSetUp
    self.isRefused = isRefused
  }
}
