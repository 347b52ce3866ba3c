/// The users besides the owner who learn of a change in a private database: participants of its
/// shares.
///
/// The transaction of the change determines the audience. Who takes part in the shares is read when
/// the change is forwarded, so a participant who was removed meanwhile does not learn of it.
public struct ShareAudience: Sendable, Hashable {
  /// The numbers of the shares that show the change: those of the record's place before and after
  /// the change.
  public var shares: [Int64]
  /// The user record names of participants whose part ended with the change. They learn of it once.
  public var departed: [String]

  /// Creates an audience.
  public init(shares: [Int64] = [], departed: [String] = []) {
    self.shares = shares
    self.departed = departed
  }

  /// Whether nobody can belong to the audience.
  public var isEmpty: Bool { shares.isEmpty && departed.isEmpty }
}

/// Where a change comes from that is forwarded to the shared database of a participant.
public struct ChangeForwarding: Sendable, Hashable {
  /// The owner's private database, in which the change was committed.
  public var source: DatabaseID
  /// Whether the participant has no part in the zone any more. Pushes of the zone that wait are then
  /// not sent.
  public var endsZone: Bool

  /// The reason why a push of a zone is not sent after the user's part in the zone has ended.
  public static let removedReason = "the user does not take part in the zone any more"

  /// Creates the source of a forwarded change.
  public init(source: DatabaseID, endsZone: Bool) {
    self.source = source
    self.endsZone = endsZone
  }
}
