import StoreModel

/// A collector of matched changes, which fills one transaction after the other. A transaction has a
/// limited number of firings: pairs of a change and a subscription that matches it. The collector
/// is a value.
struct PendingTransaction {
  /// The changes of the transaction.
  private(set) var changes: [MatchedChange]
  /// The number of firings of the changes.
  private(set) var firingCount = 0
  /// The greatest number of firings in one transaction.
  private let limit: Int

  /// Creates a transaction.
  ///
  /// - Parameters:
  ///   - changes: Changes without firings that wait for a transaction.
  ///   - limit: The greatest number of firings in one transaction. Less than 1 counts as 1.
  init(_ changes: [MatchedChange], limit: Int) {
    self.changes = changes
    self.limit = max(1, limit)
  }

  /// Adds as many firings of a change as fit. If the transaction is then full, empties it and
  /// returns its changes. Repeat the call until it returns `nil`: then all firings are added.
  ///
  /// - Parameters:
  ///   - firings: The firings of the change that are not added yet. The call removes the ones that
  ///     it adds.
  ///   - entry: The change. If not all of its firings fit, the call sets
  ///     `OutboxEntry.settledThrough` to the last added subscription.
  ///   - carriesLastValues: Whether notifications of the change carry the record's last values.
  ///   - prepare: `OutboxStore.prepare(_:)`, which encodes the notifications of a change before the
  ///     transaction begins.
  mutating func add(
    _ firings: inout Firings, of entry: inout OutboxEntry, carriesLastValues: Bool,
    prepare: (inout MatchedChange) -> Void
  ) -> [MatchedChange]? {
    if firingCount >= limit { return removeAll() }
    let next = firings.take(atMost: limit - firingCount)
    var change = MatchedChange(
      entry: entry, firings: next.subscriptions, contentNumbers: next.contentNumbers,
      isWhole: firings.isEmpty,
      carriesLastValues: carriesLastValues)
    prepare(&change)
    changes.append(change)
    firingCount += next.subscriptions.count
    if firings.isEmpty { return nil }
    entry.settledThrough = next.subscriptions.last?.name
    return removeAll()
  }

  /// Empties the transaction, and returns its changes.
  private mutating func removeAll() -> [MatchedChange] {
    defer {
      changes = []
      firingCount = 0
    }
    return changes
  }
}
