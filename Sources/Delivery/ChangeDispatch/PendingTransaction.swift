import StoreModel

/// Gathers what changes led to into transactions of bounded size, as a value.
struct PendingTransaction {
  /// What goes with it.
  private(set) var changes: [MatchedChange]
  /// Firings that go with it.
  private(set) var firingCount = 0
  private let limit: Int

  /// - Parameters:
  ///   - changes: that fired nothing and wait for a transaction.
  ///   - limit: of firings in one transaction.
  init(_ changes: [MatchedChange], limit: Int) {
    self.changes = changes
    self.limit = max(1, limit)
  }

  /// Takes in the firings of a change, as many as there is room for, and answers the transaction
  /// when it is full. To be repeated until it answers nil.
  ///
  /// - Parameter prepare: ``OutboxStore/prepare(_:)``. It encodes a change while the store writes the
  ///   transaction before.
  mutating func add(
    _ firings: inout Firings, of entry: inout OutboxEntry, carriesLastValues: Bool,
    prepare: (inout MatchedChange) -> Void
  ) -> [MatchedChange]? {
    if firingCount >= limit { return removeAll() }
    let next = firings.take(atMost: limit - firingCount)
    var change = MatchedChange(
      entry: entry, firings: next.subscriptions, forms: next.forms, isWhole: firings.isEmpty,
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
