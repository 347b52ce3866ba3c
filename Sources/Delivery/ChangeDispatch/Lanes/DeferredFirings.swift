import CloudKitModel
import Matching
import StoreModel

/// The firings of deferred changes for one subscriber (`DeferredWork`), from the oldest change on. It
/// is a value.
///
/// The subscriber's log keeps a limited number of newest entries. Firings that would not be among
/// them after the newer ones are logged are *skipped*: they are counted, but not returned. The log
/// then looks as if they had been logged and trimmed. A firing of a `firesOnce` subscription is never
/// skipped, because it deletes the subscription. A firing that the subscriber may not read displaces
/// none, because it makes no entry.
struct DeferredFirings {
  /// A change with its firings.
  struct Change {
    var entry: OutboxEntry
    /// The firings to log.
    var firings: Firings
    /// The number of firings that are not logged.
    var skipped: Int
  }

  /// The changes that are left, the newest first.
  private var changes: [Change]

  /// Matches the changes of a work.
  ///
  /// - Complexity: O(*n*), where *n* is the number of firings, and that of matching the changes with
  ///   the subscriber's subscriptions.
  init(_ work: DeferredWork, using group: inout MatchGroup) {
    var index = SubscriptionIndex()
    for stored in work.subscriptions {
      let key = SubscriptionKey(
        subscriber: stored.subscriber, subscriptionID: stored.subscription.subscriptionID)
      index.insert(stored.subscription, for: key, version: stored.version)
    }
    let all = 0..<Int32(index.count)
    let once = Set(
      zip(all, index.matches(inSlots: all)).lazy.filter { $1.subscription.firesOnce }.map(\.0))
    let entries = work.changes.map(\.entry)
    var slots = [[Int32]](repeating: [], count: entries.count)
    index.forEachMatch(
      of: entries.map(\.change), in: entries.indices, savedBy: entries.map(\.subscriptionVersion),
      using: &group
    ) { slots[$0].append($1) }
    changes = []
    var newer = 0
    for (place, change) in work.changes.enumerated().reversed() {
      var logged = slots[place]
      let onlyOnce = once.isEmpty ? [] : logged.filter { once.contains($0) }
      let ordinary = change.isReadable ? logged.count - onlyOnce.count : 0
      var skipped = 0
      if newer >= work.entryLimit, ordinary > 0, change.entry.settledThrough == nil {
        logged = onlyOnce
        skipped = ordinary
      }
      newer += ordinary
      index.sort(&logged)
      changes.append(
        Change(
          entry: change.entry, firings: Firings(of: change.entry, sorted: logged, in: index),
          skipped: skipped))
    }
  }

  /// Whether no change is left.
  var isEmpty: Bool { changes.isEmpty }

  /// Removes the changes of the next transaction, or those of their firings that fit, and returns
  /// them.
  ///
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
        skipped: next.skipped, prepare: prepare)
      guard let full else { continue }
      // The rest of the change, or the whole change if it did not fit.
      if full.last?.entry.sequence == next.entry.sequence { next.skipped = 0 }
      changes.append(next)
      return full
    }
    return transaction.changes
  }
}
