import StoreModel

/// A collector of matched changes for one transaction after the other. Each transaction has a
/// limited number of firings. It is a value.
struct PendingTransaction {
  /// The changes of the transaction.
  private(set) var changes: [MatchedChange]
  /// The number of their firings.
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

  /// Adds as many firings of a change as fit, and returns the transaction if it is full. Repeat the
  /// call until it returns `nil`.
  ///
  /// - Parameters:
  ///   - firings: The firings of the change that are not added yet. The call removes those that it
  ///     adds.
  ///   - entry: The change. If not all of its firings fit, the call sets
  ///     ``OutboxEntry/settledThrough`` to the last added one.
  ///   - carriesLastValues: Whether notifications of the change carry the record's last values.
  ///   - prepare: ``OutboxStore/prepare(_:)``, which encodes the notifications of a change. It runs
  ///     while the store writes the previous transaction.
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
