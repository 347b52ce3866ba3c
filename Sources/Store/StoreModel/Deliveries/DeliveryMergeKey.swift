import CloudKitModel

/// The key by which deliveries are merged. Deliveries of one database to one device with the same
/// key can be merged: only the newest is sent.
///
/// A silent notification says only that there is something new, so silent notifications of one
/// subscription are merged. A shown notification has high priority. Shown notifications are merged
/// only if the subscription has a collapse ID.
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

  /// Creates the key of a subscription's notifications; nil if they are shown and have no collapse
  /// ID, and so are never merged.
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

  /// Whether the key is that of silent notifications. These have low priority at APNs.
  public var isSilent: Bool { text.hasPrefix(Self.silentPrefix) }
}
