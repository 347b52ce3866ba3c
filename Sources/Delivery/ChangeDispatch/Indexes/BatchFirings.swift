import CloudKitModel
import Matching
import StoreModel

/// The firings of a batch of changes, one change after the other.
///
/// Several changes are matched at once, which overlaps their waits for memory. Their firings are
/// kept until they are requested, but at most those of one change and some thousands.
struct BatchFirings {
  /// The number of firings at which matching stops ahead.
  private static let limit = 4_096

  private let entries: ArraySlice<OutboxEntry>
  private let changes: [Change]
  private let versions: [Int64]
  private let index: SubscriptionIndex
  /// For matched changes, the slots of their firings; and the position of the first of these
  /// changes.
  private var matched: [[Int32]] = []
  private var first = 0
  private var next = 0

  init(_ entries: ArraySlice<OutboxEntry>, in index: SubscriptionIndex) {
    self.entries = entries
    changes = entries.map(\.change)
    versions = entries.map(\.subscriptionVersion)
    self.index = index
  }

  /// The firings of the next change.
  ///
  /// - Precondition: It was called less often than there are changes.
  /// - Complexity: that of matching, sometimes for several changes at once, and O(*n* log *n*) for
  ///   *n* firings.
  mutating func removeFirst(using group: inout MatchGroup) -> Firings {
    if next == first + matched.count { match(using: &group) }
    defer { next += 1 }
    let slots = matched[next - first]
    matched[next - first] = []
    return Firings(of: entries[entries.startIndex + next], slots, in: index)
  }

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
