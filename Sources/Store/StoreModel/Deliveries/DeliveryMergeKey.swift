import CloudKitModel

/// The deliveries to a device that may be merged: those of the same database with the same key. The
/// newest is sent.
///
/// A silent notification of a subscription says only that there is news, so silent ones merge.
/// Notifications of high priority merge only if the subscription asks for it by a collapse ID.
/// Others never merge.
public struct DeliveryMergeKey: Sendable, Hashable {
  /// The stored text.
  public let text: String

  /// Nil for a subscription whose notifications are shown one by one.
  public init?(_ subscription: Subscription) {
    let info = subscription.notificationInfo
    if info?.isHighPriority == true {
      guard let collapseID = info?.collapseIDKey, !collapseID.isEmpty else { return nil }
      text = "c" + collapseID
    } else {
      text = Self.silentPrefix + subscription.subscriptionID
    }
  }

  /// The prefix of keys of silent notifications.
  package static let silentPrefix = "s"

  public var isSilent: Bool { text.hasPrefix(Self.silentPrefix) }
}
