/// An outbox entry with the subscriptions that it fires, or with the next of them if they are too
/// many for one transaction.
public struct MatchedChange: Sendable {
  /// The change.
  public let entry: OutboxEntry
  /// The subscriptions that the change fires. If the change fires further ones, these are in the
  /// order of subscribers and IDs, by their bytes.
  public let firings: [StoredSubscription]
  /// Whether ``firings`` has the last firings of the change, so that the change is dispatched with
  /// them. Otherwise the change keeps waiting, *settled* through the last of ``firings``: the
  /// notifications of the subscriptions up to that one are written.
  public let isWhole: Bool
  /// Whether notifications of a deletion carry the last values of the desired keys.
  public let carriesLastValues: Bool
  /// A number for each firing, equal only for subscriptions that differ only in their IDs; nil if
  /// unknown. The store encodes the common part of such subscriptions once.
  public let contentNumbers: [UInt64]?
  /// The result of ``OutboxStore/prepare(_:)``; nil before that.
  package var preparation: (any DispatchPreparation)?

  /// Creates a matched change without a preparation.
  public init(
    entry: OutboxEntry, firings: [StoredSubscription], contentNumbers: [UInt64]? = nil,
    isWhole: Bool = true, carriesLastValues: Bool = false
  ) {
    self.entry = entry
    self.firings = firings
    self.isWhole = isWhole
    self.carriesLastValues = carriesLastValues
    self.contentNumbers = contentNumbers
  }
}

/// The encoded effects of a ``MatchedChange``, made before the store writes them. Only the store
/// that made it can read it.
package protocol DispatchPreparation: Sendable {}
