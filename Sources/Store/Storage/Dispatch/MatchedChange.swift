import CloudKitModel
import StoreModel

/// A committed change with the subscriptions that it fires. If these are too many for one
/// transaction, each transaction has a value with some of them.
public struct MatchedChange: Sendable {
  /// The change.
  public let entry: OutboxEntry
  /// The subscriptions that the change fires: the *firings*. If ``isWhole`` is false, or if an
  /// earlier transaction wrote some firings of the change, the order is that of subscribers and
  /// IDs, by their bytes. Otherwise, any order is permitted.
  public private(set) var firings: [StoredSubscription]
  /// Whether ``firings`` has the last firings of the change. If true, the change is dispatched when
  /// they are written. If false, the change waits for its other firings. It is then *settled*
  /// through the last subscription in ``firings``: the notifications up to that subscription are
  /// written.
  public private(set) var isWhole: Bool
  /// Whether the notification of a record's deletion has the last values of the fields that the
  /// subscription names in its desired keys.
  public let carriesLastValues: Bool
  /// A number for each firing; nil if the numbers are not known. Two firings may have equal numbers
  /// only if their subscriptions are equal except for the IDs. The store encodes the common part of
  /// these subscriptions once.
  public private(set) var contentNumbers: [UInt64]?
  /// Whether the store does not log further firings of a deferred change. The user's log would drop
  /// them at once, because newer firings fill the log up to its limit.
  public let isSkipped: Bool
  /// The result of ``OutboxStore/prepare(_:within:)``; nil before that.
  var preparation: PreparedNotifications?

  /// The size of the encoded notifications in bytes; nil before ``OutboxStore/prepare(_:within:)``.
  public var preparedBytes: Int? { preparation?.byteCount }

  /// Creates a matched change without a preparation.
  public init(
    entry: OutboxEntry, firings: [StoredSubscription], contentNumbers: [UInt64]? = nil,
    isWhole: Bool = true, carriesLastValues: Bool = false, isSkipped: Bool = false
  ) {
    self.entry = entry
    self.firings = firings
    self.isWhole = isWhole
    self.carriesLastValues = carriesLastValues
    self.contentNumbers = contentNumbers
    self.isSkipped = isSkipped
  }

  /// Removes all firings except the first `count`. If any are removed, the change is no longer
  /// whole.
  mutating func keepFirst(_ count: Int) {
    guard count < firings.count else { return }
    firings.removeSubrange(count...)
    contentNumbers?.removeSubrange(count...)
    isWhole = false
  }
}

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
      matched.preparation
      ?? PreparedNotifications(
        of: matched.entry.change, for: matched.firings, contentNumbers: matched.contentNumbers,
        carriesLastValues: matched.carriesLastValues)
  }
}
