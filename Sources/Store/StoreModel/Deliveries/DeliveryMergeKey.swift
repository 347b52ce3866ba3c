import CloudKitModel

/// Which deliveries to a device may become one: those of the same database with the same key, of
/// which the newest counts.
///
/// Silent ones of one subscription say no more than that there is news. Those of high priority become one only
/// where the subscription asks for it by a collapse ID; others never do.
public struct DeliveryMergeKey: Sendable, Hashable {
  /// What the store keeps.
  public let text: String

  /// Nil for a subscription whose notifications are each shown by themselves.
  public init?(_ subscription: Subscription) {
    let info = subscription.notificationInfo
    if info?.isHighPriority == true {
      guard let collapseID = info?.collapseIDKey, !collapseID.isEmpty else { return nil }
      text = "c" + collapseID
    } else {
      text = Self.silentPrefix + subscription.subscriptionID
    }
  }

  /// What keys of silent notifications begin with.
  package static let silentPrefix = "s"

  public var isSilent: Bool { text.hasPrefix(Self.silentPrefix) }
}
