import CloudKitModel
import Matching
import Storage
import StoreModel

/// The firings of deferred changes for one subscriber (`DeferredWork`), from the oldest change on. It
/// is a value.
///
/// The subscriber's log keeps a limited number of newest entries. So the changes are matched from the
/// newest to the oldest. A change whose firings would not be among these entries is *skipped*: the log
/// then looks as if its firings had been logged and trimmed. A firing of a `firesOnce` subscription is
/// never skipped, because it deletes the subscription. A firing that the subscriber may not read
/// displaces none, because it makes no entry.
struct DeferredFirings {
  /// A change with its firings.
  struct Change {
    var entry: OutboxEntry
    var firings: Firings
    var isSkipped: Bool
  }

  /// The matching cost (`MatchingCosts`) after which a step of matching ends: some milliseconds.
  private static let costOfStep = 1 << 20
  /// The number of firings for which the same holds.
  private static let firingsOfStep = 1 << 16

  private var unmatched: [DeferredWork.Change]
  /// The number of newest entries that the subscriber's log keeps.
  private let entryLimit: Int
  private let index: SubscriptionIndex
  /// The slots of the subscriptions that fire once.
  private let once: Set<Int32>
  /// The matched changes that are left, the newest first.
  private var changes: [Change] = []
  /// The number of entries that the matched changes make.
  private var newer = 0

  /// Creates the firings of a work. Nothing is matched yet.
  init(_ work: DeferredWork) {
    unmatched = work.changes
    entryLimit = work.entryLimit
    var index = SubscriptionIndex()
    for stored in work.subscriptions {
      let key = SubscriptionKey(
        subscriber: stored.subscriber, subscriptionID: stored.subscription.subscriptionID)
      index.insert(stored.subscription, for: key, version: stored.version)
    }
    let all = 0..<Int32(index.count)
    once = Set(
      zip(all, index.matches(inSlots: all)).lazy.filter { $1.subscription.firesOnce }.map(\.0))
    self.index = index
  }

  /// Matches changes until all are matched, or until a few milliseconds are over.
  ///
  /// - Returns: Whether all are matched.
  mutating func match(using group: inout MatchGroup) -> Bool {
    var (costs, firings) = (MatchingCosts(), 0)
    while !unmatched.isEmpty, costs.total < Self.costOfStep, firings < Self.firingsOfStep {
      // A slice would share the memory of the array, so that the removal would copy all of it.
      let next = Array(unmatched.suffix(MatchGroup.size))
      unmatched.removeLast(next.count)
      var slots = [[Int32]](repeating: [], count: next.count)
      if newer < entryLimit || !once.isEmpty
        || next.contains(where: { $0.entry.settledThrough != nil })
      {
        index.forEachMatch(
          of: next.map(\.entry.change), in: slots.indices,
          savedBy: next.map(\.entry.subscriptionVersion), charging: &costs, using: &group
        ) { slots[$0].append($1) }
      }
      for (change, slots) in zip(next, slots).reversed() {
        firings += slots.count
        append(change, firing: slots)
      }
    }
    return unmatched.isEmpty
  }

  /// Appends a matched change. All newer ones are appended.
  private mutating func append(_ change: DeferredWork.Change, firing slots: [Int32]) {
    var logged = slots
    let onlyOnce = once.isEmpty ? [] : logged.filter { once.contains($0) }
    let isSkipped = newer >= entryLimit && change.isReadable && change.entry.settledThrough == nil
    if change.isReadable { newer += logged.count - onlyOnce.count }
    if isSkipped { logged = onlyOnce }
    index.sort(&logged)
    changes.append(
      Change(
        entry: change.entry, firings: Firings(of: change.entry, sorted: logged, in: index),
        isSkipped: isSkipped))
  }

  var isEmpty: Bool { changes.isEmpty && unmatched.isEmpty }

  /// Removes the changes of the next transaction, or those of their firings that fit, and returns
  /// them.
  ///
  /// - Precondition: All changes are matched.
  /// - Parameters:
  ///   - carriesLastValues: Whether notifications of deletions carry the last values of the record.
  ///   - prepare: `OutboxStore.prepare(_:within:)`.
  mutating func fill(
    _ transaction: PendingTransaction, carriesLastValues: Bool,
    prepare: (inout MatchedChange, Int) -> Void
  ) -> [MatchedChange] {
    var transaction = transaction
    while var next = changes.popLast() {
      let full = transaction.add(
        &next.firings, of: &next.entry,
        carriesLastValues: carriesLastValues && next.entry.change.event == .recordDeleted,
        isSkipped: next.isSkipped, prepare: prepare)
      guard let full else { continue }
      // The rest of the change, or the whole change if it did not fit.
      if full.last?.entry.sequence == next.entry.sequence { next.isSkipped = false }
      changes.append(next)
      return full
    }
    return transaction.changes
  }
}
