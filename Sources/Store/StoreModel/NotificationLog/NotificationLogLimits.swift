/// The retention of the notification log.
public struct NotificationLogLimits: Sendable, Hashable {
  /// The age in seconds up to which entries are kept; marks count from the marking.
  public var age = 30.0 * 24 * 60 * 60
  /// The number of newest entries kept for one user over all containers, and of marks.
  public var entries = 10_000
  /// The bytes of newest contents kept for one user over all containers.
  public var bytes = 64 << 20

  public init() {}
}
