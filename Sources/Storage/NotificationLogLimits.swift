/// How much is kept of the notification log.
public struct NotificationLogLimits: Sendable, Hashable {
  /// How long entries are kept, and marks from the marking, in seconds.
  public var age = 30.0 * 24 * 60 * 60
  /// Entries of one user over all containers, the newest, and as many marks.
  public var entries = 10_000

  public init() {}
}
