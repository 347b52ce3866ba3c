import CloudKitModel
import StoreModel

/// A matched change with its encoded notifications, for the writer's transaction.
struct PreparedChange: Sendable {
  /// The change, and the subscriptions that it fires.
  let matched: MatchedChange
  /// The encoded notifications, one for each firing in the same order.
  let notifications: PreparedNotifications

  var entry: OutboxEntry { matched.entry }

  /// Takes the notifications that ``OutboxStore/prepare(_:)`` encoded, or encodes them now.
  init(_ matched: MatchedChange) {
    self.matched = matched
    notifications =
      matched.preparation as? PreparedNotifications
      ?? PreparedNotifications(
        of: matched.entry.change, for: matched.firings, contentNumbers: matched.contentNumbers,
        carriesLastValues: matched.carriesLastValues)
  }
}
