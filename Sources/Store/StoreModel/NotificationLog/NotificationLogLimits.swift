/// The retention of the notification log. An entry is deleted when any of the limits is exceeded.
public struct NotificationLogLimits: Sendable, Hashable {
  /// The age in seconds up to which entries and marks are kept. The age of a mark counts from the
  /// marking.
  public var age = 30.0 * 24 * 60 * 60
  /// The number of newest entries kept for one user over all containers. As many of the user's
  /// marks are kept besides.
  public var entries = 10_000
  /// The bytes of newest contents kept for one user over all containers.
  public var bytes = 64 << 20

  /// The default limits: 30 days, 10,000 entries and 64 MiB for each user.
  public init() {}
}
