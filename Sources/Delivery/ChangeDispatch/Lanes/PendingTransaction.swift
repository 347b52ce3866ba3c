import StoreModel

/// Collects the effects of changes into transactions of bounded size. A value.
struct PendingTransaction {
  /// The changes of the transaction.
  private(set) var changes: [MatchedChange]
  /// The number of their firings.
  private(set) var firingCount = 0
  private let limit: Int

  /// - Parameters:
  ///   - changes: changes without firings that wait for a transaction.
  ///   - limit: the most firings in one transaction.
  init(_ changes: [MatchedChange], limit: Int) {
    self.changes = changes
    self.limit = max(1, limit)
  }

  /// Adds as many firings of a change as fit, and returns the transaction if it is full. Repeat it
  /// until it returns nil.
  ///
  /// - Parameter prepare: ``OutboxStore/prepare(_:)``, which encodes a change while the store
  ///   writes the previous transaction.
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

  private mutating func removeAll() -> [MatchedChange] {
    defer {
      changes = []
      firingCount = 0
    }
    return changes
  }
}
