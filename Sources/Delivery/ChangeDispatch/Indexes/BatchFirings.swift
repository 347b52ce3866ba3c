import CloudKitModel
import Matching
import StoreModel

/// The firings of a batch of changes, one change after the other. A *firing* is one subscription
/// that a change matches.
///
/// Several changes are matched at once, so that their waits for memory overlap. Their firings are
/// kept until they are requested. After 4,096 firings, no further change of the group is matched
/// ahead.
struct BatchFirings {
  /// The number of firings at which matching of further changes stops.
  private static let limit = 4_096

  /// The changes of the batch with their positions in the outbox.
  private let entries: ArraySlice<OutboxEntry>
  /// The changes, in the same order.
  private let changes: [Change]
  /// The subscription version of the database at the commit of each change.
  private let versions: [Int64]
  private let index: SubscriptionIndex
  /// The slots of the firings of each matched change; empty for a change whose firings were
  /// requested.
  private var matched: [[Int32]] = []
  /// The index, in the batch, of the first change in ``matched``.
  private var first = 0
  private var next = 0
  private var groupSize = MatchGroup.size
  private var load: SubscriberLoad

  /// Creates the firings of a batch. Nothing is matched yet.
  ///
  /// - Parameters:
  ///   - deferred: The subscribers whose firings are deferred already.
  ///   - limit: The number of firings of a subscriber in the batch above which they are deferred.
  ///   - costLimit: The same limit for the matching cost.
  init(
    _ entries: ArraySlice<OutboxEntry>, in index: SubscriptionIndex, deferring deferred: [String],
    limit: Int, costLimit: Int
  ) {
    load = SubscriberLoad(
      deferring: SubscriberSet(deferred.compactMap { index.number(ofSubscriber: $0) }),
      limit: limit,
      costLimit: costLimit)
    self.entries = entries
    changes = entries.map(\.change)
    versions = entries.map(\.subscriptionVersion)
    self.index = index
  }

  /// Returns the firings of the next change without those of deferred subscribers, and the
  /// subscribers whose firings are deferred from this change on.
  ///
  /// - Precondition: The method was called fewer times than the batch has changes.
  /// - Complexity: that of matching up to eight changes, and O(*n* log *n*), where *n* is the
  ///   number of firings of the change.
  mutating func removeFirst(
    using group: inout MatchGroup
  ) -> (firings: Firings, deferring: [String]) {
    if next == first + matched.count { match(using: &group) }
    defer { next += 1 }
    let entry = entries[entries.startIndex + next]
    var slots = matched[next - first]
    matched[next - first] = []
    // Some firings of a partly dispatched change are logged, perhaps those of the subscriber, too.
    let isWhole = entry.settledThrough == nil
    var exceeding = isWhole ? load.deferCostly() : []
    index.removeSlots(of: load.deferred, from: &slots)
    index.sort(&slots)
    if isWhole {
      let byFirings = load.count(slots.count, isLarge: entry.isLarge) {
        index.forEachSubscriber(ofSorted: slots, $0)
      }
      if !byFirings.isEmpty { index.removeSlots(of: load.deferred, from: &slots) }
      exceeding += byFirings
    }
    return (
      Firings(of: entry, sorted: slots, in: index),
      exceeding.map { index.subscriber(numbered: $0) }
    )
  }

  /// Matches the next group of up to eight changes. After a change whose firings alone end a group,
  /// the next change is matched alone, since the work for those after it would be lost.
  private mutating func match(using group: inout MatchGroup) {
    first = next
    let places = first..<min(changes.count, first + groupSize)
    var slots = [[Int32]](repeating: [], count: places.count)
    var costs = load.nextCosts
    let end = index.forEachMatch(
      of: changes, in: places, savedBy: versions, atMost: Self.limit, charging: &costs,
      using: &group
    ) { slots[$0 - first].append($1) }
    matched = Array(slots.prefix(end - first))
    groupSize = end < places.upperBound ? 1 : min(MatchGroup.size, 2 * groupSize)
    load.add(costs)
  }
}
