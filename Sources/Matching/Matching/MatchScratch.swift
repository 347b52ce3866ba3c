/// The working memory for matching one change after the other.
///
/// Create it once and reuse it: matching then allocates no memory for each change. It may be used
/// with any index, by one thread at a time.
public struct MatchScratch: Sendable {
  /// The number of the record type whose entries may fire on the change; `nil` when none may.
  var type: Int32?
  /// The bit of the change's event in `Subscription.Options`; 0 if queries do not fire on it.
  var event: UInt8 = 0
  /// The points, ordered values and places of the change.
  var facts = RecordFacts()
  /// The keys of points that wait to be looked up together. No look-up waits for the memory of
  /// another.
  var questions = PointQuestions()
  /// The entries that fire, in the first ``firedCount`` elements.
  var fired: [UInt32] = []
  /// The number of entries that fire.
  var firedCount = 0
  /// The owners of the entries in ``fired``, at the same indices.
  var owners: [OwnerList] = []
  /// The entries that fire and that the change may meet at several places. Duplicates are removed
  /// later.
  var metAgain: [UInt32] = []
  /// The number of entries that were examined for all changes since the memory was created.
  public internal(set) var candidateCount = 0
  /// The number of entries that matched for all changes since the memory was created.
  public internal(set) var matchedCount = 0

  /// Creates empty working memory. The arrays grow with the first changes.
  public init() {}

  /// Prepares the memory for the next change.
  mutating func begin(type: Int32?, event: UInt8) {
    self.type = type
    self.event = event
    firedCount = 0
    metAgain.removeAll(keepingCapacity: true)
  }

  /// Reserves space for `more` elements behind the first ``firedCount`` elements of ``fired``.
  @inline(__always)
  mutating func reserve(_ more: Int) {
    if fired.count - firedCount < more { grow(by: more) }
  }

  /// Extends ``fired``, at least to twice its length. It is apart from ``reserve(_:)`` so that only
  /// the check is inlined.
  private mutating func grow(by more: Int) {
    fired += repeatElement(0, count: fired.count + more + 64)
  }
}
