/// The working memory for matching several changes side by side.
///
/// Create it once and use it for one group after the other. Matching then allocates no memory for
/// each change. It may be used with any index, by one thread at a time.
public struct MatchGroup: Sendable {
  /// The number of changes that are matched side by side: 8.
  ///
  /// While one change waits for memory, the index works on the others. In measurements a group of
  /// four still waited a little, and a group of sixteen was no faster.
  public static let size = 8

  var scratches = (0..<size).map { _ in MatchScratch() }

  /// Creates the working memory of ``size`` changes.
  public init() {}

  /// The number of checks of entries for all changes since this memory was created; see
  /// ``MatchScratch/candidateCount``.
  public var candidateCount: Int { scratches.reduce(0) { $0 + $1.candidateCount } }
  /// The number of matches of entries for all changes since this memory was created.
  public var matchedCount: Int { scratches.reduce(0) { $0 + $1.matchedCount } }
}
