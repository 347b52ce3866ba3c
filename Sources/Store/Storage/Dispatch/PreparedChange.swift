import CloudKitModel
import StoreModel

/// A matched change with its notifications encoded, for the writer's transaction.
struct PreparedChange: Sendable {
  let matched: MatchedChange
  let notifications: PreparedNotifications

  var entry: OutboxEntry { matched.entry }

  /// Encodes the notifications of a change that ``OutboxStore/prepare(_:)`` has not prepared.
  init(_ matched: MatchedChange) {
    self.matched = matched
    notifications =
      matched.preparation as? PreparedNotifications
      ?? PreparedNotifications(
        of: matched.entry.change, for: matched.firings, contentNumbers: matched.contentNumbers,
        carriesLastValues: matched.carriesLastValues)
  }
}
