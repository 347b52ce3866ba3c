import CloudKitModel
import Matching
import StoreModel

/// The firings of a batch of changes, one change after the other.
///
/// Several changes are matched at once, so that their waits for memory overlap. Their firings are
/// kept until they are requested, but at most 4,096 of them and those of one more change.
struct BatchFirings {
  /// The number of firings at which matching ahead stops.
  private static let limit = 4_096

  /// The changes of the batch with their positions in the outbox.
  private let entries: ArraySlice<OutboxEntry>
  /// The changes, in the same order.
  private let changes: [Change]
  /// The version of the subscriptions of each change.
  private let versions: [Int64]
  /// The index of the database.
  private let index: SubscriptionIndex
  /// The slots of the firings of each change that was matched and not requested.
  private var matched: [[Int32]] = []
  /// The position of the first change in ``matched``.
  private var first = 0
  /// The position of the next change to request.
  private var next = 0

  /// Creates the firings of a batch. Nothing is matched yet.
  init(_ entries: ArraySlice<OutboxEntry>, in index: SubscriptionIndex) {
    self.entries = entries
    changes = entries.map(\.change)
    versions = entries.map(\.subscriptionVersion)
    self.index = index
  }

  /// Returns the firings of the next change.
  ///
  /// - Precondition: The method was called less often than there are changes.
  /// - Complexity: that of matching, for up to eight changes at once, and O(*n* log *n*) for *n*
  ///   firings.
  mutating func removeFirst(using group: inout MatchGroup) -> Firings {
    if next == first + matched.count { match(using: &group) }
    defer { next += 1 }
    let slots = matched[next - first]
    matched[next - first] = []
    return Firings(of: entries[entries.startIndex + next], slots, in: index)
  }

  /// Matches the next group of changes.
  private mutating func match(using group: inout MatchGroup) {
    first = next
    let places = first..<min(changes.count, first + MatchGroup.size)
    var slots = [[Int32]](repeating: [], count: places.count)
    let end = index.forEachMatch(
      of: changes, in: places, savedBy: versions, atMost: Self.limit, using: &group
    ) { slots[$0 - first].append($1) }
    matched = Array(slots.prefix(end - first))
  }
}
