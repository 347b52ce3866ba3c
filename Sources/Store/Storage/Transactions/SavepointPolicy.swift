/// The decision whether a commit omits the savepoints of atomic requests.
///
/// Under a savepoint, the engine copies each page that the transaction has already written, before
/// it changes the page again. Without savepoints, a failed request costs a second run of the whole
/// commit. So after such a failure the next ``caution`` commits have savepoints. A caller who fails
/// repeatedly then causes few second runs for the others.
struct SavepointPolicy {
  /// The number of commits with savepoints after a commit that needed them.
  static let caution = 64

  /// The number of next commits that have savepoints.
  private var cautiousCommits = 0

  /// Returns whether the next commit omits savepoints. Call the method once for each attempt to
  /// commit, because each call counts as a commit.
  mutating func nextOmitsSavepoints() -> Bool {
    guard cautiousCommits > 0 else { return true }
    cautiousCommits -= 1
    return false
  }

  /// Notes that a commit without savepoints had to be repeated. The next ``caution`` commits then
  /// have them.
  mutating func wereNeeded() {
    cautiousCommits = Self.caution
  }
}
