import CloudKitModel
import StoreModel

/// A change with the subscriptions that it fires and with the encoded notifications. It is made
/// before the transaction that writes the notifications (``DispatchCompletion``).
struct PreparedChange: Sendable {
  /// The change, and the subscriptions that it fires.
  let matched: MatchedChange
  /// The encoded notifications, one for each subscription of `matched.firings`, in the same order.
  let notifications: PreparedNotifications

  var entry: OutboxEntry { matched.entry }

  /// Uses the notifications that ``OutboxService/prepare(_:within:)`` has encoded; without them,
  /// encodes the notifications now.
  init(_ matched: MatchedChange) {
    self.matched = matched
    notifications =
      matched.preparation as? PreparedNotifications
      ?? PreparedNotifications(
        of: matched.entry.change, for: matched.firings, contentNumbers: matched.contentNumbers,
        carriesLastValues: matched.carriesLastValues)
  }
}
