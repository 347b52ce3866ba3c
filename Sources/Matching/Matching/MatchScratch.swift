/// The working memory for matching one change after the other.
///
/// Create it once and reuse it. Matching then allocates no memory for each change. It may be used
/// with any index, by one thread at a time.
public struct MatchScratch: Sendable {
  /// The number of the record type whose entries may fire on the change; `nil` when none may.
  var type: Int32?
  /// The bit of the change's event in `Subscription.Options`; 0 if query subscriptions do not fire
  /// on the event.
  var event: UInt8 = 0
  /// The facts of the change that matching compares: points, ordered values and places on the
  /// earth.
  var facts = RecordFacts()
  /// The keys of points to look up together. The processor then loads the memory for all of them in
  /// parallel.
  var questions = PointQuestions()
  /// The slots of the entries that fire, in the first ``firedCount`` elements.
  var fired: [UInt32] = []
  var firedCount = 0
  /// The lists of the owners of the entries in ``fired``, at the same indices.
  var owners: [OwnerList] = []
  /// The entries that get into ``fired`` after all candidates are checked.
  var later = LaterEntries()
  /// The number of checks of entries, for all changes since this memory was created. An entry that
  /// is filed in several lists may be checked several times for one change. Zone and database
  /// subscriptions are not counted.
  public internal(set) var candidateCount = 0
  /// The number of matches of entries, for all changes since this memory was created. Zone and
  /// database subscriptions are not counted.
  public internal(set) var matchedCount = 0

  /// Creates empty working memory. The arrays grow with the first changes.
  public init() {}

  mutating func begin(type: Int32?, event: UInt8) {
    self.type = type
    self.event = event
    firedCount = 0
    later.removeAll()
  }

  /// Reserves space in ``fired`` for `more` elements after the first ``firedCount`` elements.
  @inline(__always)
  mutating func reserve(_ more: Int) {
    if fired.count - firedCount < more { grow(by: more) }
  }

  /// Extends ``fired``, at least to twice its length. This is a method of its own, so that only the
  /// comparison in ``reserve(_:)`` is inlined.
  private mutating func grow(by more: Int) {
    fired += repeatElement(0, count: fired.count + more + 64)
  }
}
