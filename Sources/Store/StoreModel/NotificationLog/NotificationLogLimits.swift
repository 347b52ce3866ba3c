/// How much is kept of the notification log.
public struct NotificationLogLimits: Sendable, Hashable {
  /// How long entries are kept, and marks from the marking, in seconds.
  public var age = 30.0 * 24 * 60 * 60
  /// Entries of one user over all containers, the newest, and as many marks.
  public var entries = 10_000
  /// Bytes of the contents of one user's entries over all containers, the newest.
  public var bytes = 64 << 20

  public init() {}
}
