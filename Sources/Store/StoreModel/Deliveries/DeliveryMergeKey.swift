import CloudKitModel

/// The key of deliveries to one device that may be merged: those of the same database with the same
/// key. The newest is sent.
///
/// A silent notification of a subscription says only that there is news, so silent ones merge.
/// Notifications of high priority merge only if the subscription has a collapse ID.
///
/// | subscription | key |
/// | --- | --- |
/// | silent, with the ID `notes` | `snotes` |
/// | shown, with the collapse ID `inbox` | `cinbox` |
/// | shown, without a collapse ID | none |
public struct DeliveryMergeKey: Sendable, Hashable {
  /// The text that the store keeps: the prefix `s` and the subscription's ID, or the prefix `c` and
  /// the collapse ID.
  public let text: String

  /// Creates the key of a subscription's notifications; nil if they are shown and never merge.
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

  /// Whether the key is that of silent notifications, which have low priority at APNs.
  public var isSilent: Bool { text.hasPrefix(Self.silentPrefix) }
}
