/// The retention of the notification log. An entry is deleted when any of the limits is passed.
public struct NotificationLogLimits: Sendable, Hashable {
  /// The age in seconds up to which entries are kept. For marks, the age counts from the marking.
  public var age = 30.0 * 24 * 60 * 60
  /// The number of newest entries kept for one user over all containers, and of marks.
  public var entries = 10_000
  /// The bytes of newest contents kept for one user over all containers.
  public var bytes = 64 << 20

  /// The default limits: 30 days, 10,000 entries and 64 MiB for each user.
  public init() {}
}
