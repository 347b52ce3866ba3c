/// An outbox entry together with the subscriptions it fires, or with the next of them.
public struct MatchedChange: Sendable {
  public let entry: OutboxEntry
  /// In the order of subscribers and IDs, by their bytes, where there are more than these.
  public let firings: [StoredSubscription]
  /// Whether no firings come after these: the change is dispatched with them. Otherwise it waits,
  /// settled through the last of these.
  public let isWhole: Bool
  /// Whether notifications of a deletion carry the last values of the desired keys.
  public let carriesLastValues: Bool
  /// For each firing a number, the same only for subscriptions that differ in nothing but their IDs; nil
  /// when that is not known. The store encodes once what such subscriptions have in common.
  public let forms: [UInt64]?
  /// What ``OutboxStore/prepare(_:)`` encoded; nil before that.
  package var preparation: (any DispatchPreparation)?

  public init(
    entry: OutboxEntry, firings: [StoredSubscription], forms: [UInt64]? = nil,
    isWhole: Bool = true, carriesLastValues: Bool = false
  ) {
    self.entry = entry
    self.firings = firings
    self.isWhole = isWhole
    self.carriesLastValues = carriesLastValues
    self.forms = forms
  }
}

/// What a store encodes of a ``MatchedChange`` before it writes what the change led to.
package protocol DispatchPreparation: Sendable {}
