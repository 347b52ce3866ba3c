/// The limits of the notification log. The store deletes an entry some time after the entry exceeds
/// one of the limits.
public struct NotificationLogLimits: Sendable, Hashable {
  /// The age in seconds at which the store may delete entries and marks. A mark says that a user
  /// has read a notification. Its age counts from the time of the marking.
  public var age = 30.0 * 24 * 60 * 60
  /// The number of newest entries that the store keeps for one user in all containers together. In
  /// addition, it keeps the same number of the user's marks.
  public var entries = 10_000
  /// The most bytes of entries that the store keeps for one user in all containers together. The
  /// newest entries stay.
  public var bytes = 64 << 20

  /// The default limits: 30 days, 10,000 entries and 64 MiB for each user.
  public init() {}
}
