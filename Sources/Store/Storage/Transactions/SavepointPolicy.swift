/// Decides whether a commit omits the savepoints of atomic requests.
///
/// Under a savepoint, the engine copies every page that was already written in the transaction.
/// Without savepoints, a failed request costs a second run of the whole commit. So after such a
/// failure the next commits have savepoints: a caller who fails repeatedly costs the others at most
/// one repeated run in ``caution`` commits.
struct SavepointPolicy {
  static let caution = 64

  private var cautiousCommits = 0

  /// Whether the next commit omits savepoints.
  mutating func nextOmitsSavepoints() -> Bool {
    guard cautiousCommits > 0 else { return true }
    cautiousCommits -= 1
    return false
  }

  /// A commit without savepoints had to be repeated.
  mutating func wereNeeded() {
    cautiousCommits = Self.caution
  }
}
