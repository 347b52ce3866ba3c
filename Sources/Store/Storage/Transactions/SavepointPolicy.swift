/// Whether a commit goes without the savepoints of atomic requests.
///
/// A savepoint makes the engine copy every page that is written under it and was written before in the
/// same transaction. Going without costs a second run of the whole commit when a request fails. So
/// after such a failure the next commits have savepoints: who fails again and again costs the others
/// one run in ``caution`` at most.
struct SavepointPolicy {
  static let caution = 64

  private var cautiousCommits = 0

  mutating func nextGoesWithout() -> Bool {
    guard cautiousCommits > 0 else { return true }
    cautiousCommits -= 1
    return false
  }

  /// A commit that went without had to be run again.
  mutating func wereNeeded() {
    cautiousCommits = Self.caution
  }
}
