import CloudKitModel
import StoreModel

/// A committed change with the subscriptions that it fires. If these are too many for one
/// transaction, each transaction has a value with some of them.
public struct MatchedChange: Sendable {
  /// The change, as it was committed.
  public let entry: OutboxEntry
  /// The subscriptions that the change fires. If other transactions write some of them, the order
  /// must be that of subscribers and IDs, by their bytes.
  public private(set) var firings: [StoredSubscription]
  /// Whether ``firings`` has the last firings of the change. If false, the change waits for its
  /// other firings. It is then *settled* through the last subscription in ``firings``.
  public private(set) var isWhole: Bool
  /// Whether the notification of a record's deletion has the last values of the subscription's
  /// desired keys.
  public let carriesLastValues: Bool
  /// A number for each firing, if known. Two numbers may be equal only if their subscriptions are
  /// equal except for the IDs: the store encodes the common part once.
  public private(set) var contentNumbers: [UInt64]?
  /// The subscription version of the database up to which subscriptions were known when the change
  /// was matched. Firings of those that were deleted since are left out. With nil none is.
  public let matchedVersion: Int64?
  /// Whether the store does not log further firings of a deferred change. The user's log would drop
  /// them at once, because newer firings fill it up to its limit.
  public let isSkipped: Bool
  var preparation: PreparedNotifications?

  /// Nil before ``OutboxStore/prepare(_:within:)``.
  public var preparedBytes: Int? { preparation?.byteCount }

  /// Creates a matched change without a preparation.
  public init(
    entry: OutboxEntry, firings: [StoredSubscription], contentNumbers: [UInt64]? = nil,
    isWhole: Bool = true, carriesLastValues: Bool = false, matchedVersion: Int64? = nil,
    isSkipped: Bool = false
  ) {
    self.entry = entry
    self.firings = firings
    self.isWhole = isWhole
    self.carriesLastValues = carriesLastValues
    self.contentNumbers = contentNumbers
    self.matchedVersion = matchedVersion
    self.isSkipped = isSkipped
  }

  mutating func keepFirst(_ count: Int) {
    guard count < firings.count else { return }
    firings.removeSubrange(count...)
    contentNumbers?.removeSubrange(count...)
    isWhole = false
  }
}

/// A change with its encoded notifications, made before the transaction that writes them
/// (``DispatchCompletion``).
struct PreparedChange: Sendable {
  let matched: MatchedChange
  /// In the order of `matched.firings`.
  let notifications: PreparedNotifications

  var entry: OutboxEntry { matched.entry }

  init(_ matched: MatchedChange) {
    self.matched = matched
    notifications =
      matched.preparation
      ?? PreparedNotifications(
        of: matched.entry.change, for: matched.firings, contentNumbers: matched.contentNumbers,
        carriesLastValues: matched.carriesLastValues)
  }
}
