/// Memory for matching some changes side by side, used for one group after the other.
///
/// It belongs to whoever matches, one thread at a time, and may be used with any index.
public struct MatchGroup: Sendable {
  /// How many changes are matched side by side: what one of them reads comes while the others are
  /// worked on. With half as many it is waited for a little, and twice as many are no faster.
  public static let size = 8

  var scratches = (0..<size).map { _ in MatchScratch() }

  public init() {}

  /// How many entries were looked at for all changes that were matched with this memory.
  public var candidateCount: Int { scratches.reduce(0) { $0 + $1.candidateCount } }
  /// How many of them matched.
  public var matchedCount: Int { scratches.reduce(0) { $0 + $1.matchedCount } }
}
