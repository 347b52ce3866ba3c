import Storage
import StoreModel

/// A collector of matched changes, which fills one transaction after the other. A transaction has a
/// limited number of firings: pairs of a change and a subscription that matches it. Their encoded
/// notifications have a limited size. The collector is a value.
struct PendingTransaction {
  private(set) var changes: [MatchedChange]
  private(set) var firingCount = 0
  private var byteCount = 0
  private let limit: Int
  /// The size in bytes after which a transaction gets no further firing.
  private let byteLimit: Int
  private let matchedVersion: Int64?

  /// Creates a transaction.
  ///
  /// - Parameters:
  ///   - changes: Changes without firings that wait for a transaction.
  ///   - limit: The greatest number of firings in one transaction. Less than 1 counts as 1.
  ///   - byteLimit: The size of the encoded notifications in bytes after which a transaction gets no
  ///     further firing.
  ///   - matchedVersion: `MatchedChange.matchedVersion` of the changes that are added.
  init(_ changes: [MatchedChange], limit: Int, byteLimit: Int, matchedVersion: Int64? = nil) {
    self.changes = changes
    self.limit = max(1, limit)
    self.byteLimit = max(1, byteLimit)
    self.matchedVersion = matchedVersion
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
  ///   - isSkipped: Whether firings of the change are not logged (`MatchedChange.isSkipped`).
  ///   - prepare: `OutboxStore.prepare(_:within:)`, which encodes the notifications of a change before
  ///     the transaction begins, and leaves out those that do not fit.
  mutating func add(
    _ firings: inout Firings, of entry: inout OutboxEntry, carriesLastValues: Bool,
    isSkipped: Bool = false, prepare: (inout MatchedChange, Int) -> Void
  ) -> [MatchedChange]? {
    if firingCount >= limit || byteCount >= byteLimit { return removeAll() }
    let next = firings.take(atMost: limit - firingCount)
    var change = MatchedChange(
      entry: entry, firings: next.subscriptions, contentNumbers: next.contentNumbers,
      isWhole: firings.isEmpty, carriesLastValues: carriesLastValues,
      matchedVersion: matchedVersion, isSkipped: isSkipped)
    prepare(&change, byteLimit - byteCount)
    firings.giveBack(next.subscriptions.count - change.firings.count)
    changes.append(change)
    firingCount += change.firings.count
    byteCount += change.preparedBytes ?? 0
    if firings.isEmpty { return nil }
    entry.settledThrough = change.firings.last?.name
    entry.deferring = []
    return removeAll()
  }

  private mutating func removeAll() -> [MatchedChange] {
    defer {
      changes = []
      firingCount = 0
      byteCount = 0
    }
    return changes
  }
}
