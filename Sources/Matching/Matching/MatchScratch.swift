/// Memory that matching uses for one change after the other, so that none is made for each.
///
/// It belongs to whoever matches, one thread at a time, and may be used with any index.
public struct MatchScratch: Sendable {
  /// The number of the record type whose entries may fire on the change, nil when none may, and the
  /// bit of the change's event.
  var type: Int32?
  var event: UInt8 = 0
  var facts = RecordFacts()
  /// Keys of points that are looked up together: none waits for the memory that another needs.
  var questions = PointQuestions()
  /// Entries that fire, in the first places.
  var fired: [UInt32] = []
  var firedCount = 0
  /// The owners of those, in the same places.
  var owners: [OwnerList] = []
  /// Entries that the change may meet again.
  var metAgain: [UInt32] = []
  /// How many entries were looked at for all changes that were matched with this memory.
  public internal(set) var candidateCount = 0
  /// How many of them matched.
  public internal(set) var matchedCount = 0

  public init() {}

  mutating func begin(type: Int32?, event: UInt8) {
    self.type = type
    self.event = event
    firedCount = 0
    metAgain.removeAll(keepingCapacity: true)
  }

  /// Makes sure that so many more entries can fire.
  @inline(__always)
  mutating func reserve(_ more: Int) {
    if fired.count - firedCount < more { grow(by: more) }
  }

  private mutating func grow(by more: Int) {
    fired += repeatElement(0, count: fired.count + more + 64)
  }
}
