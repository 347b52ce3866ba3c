import CloudKitModel

/// A push that a push service or a webhook refused for good. The usual cause is a fault in Petrel,
/// or in the webhook. The store keeps the payload, so that an administrator can find the fault.
public struct RefusedPush: Sendable, Hashable {
  /// The refused delivery.
  public var id: Delivery.ID
  /// The time of the refusal.
  public var refused: Timestamp
  /// The reason, with the answer of the service or the webhook.
  public var reason: String
  /// The payload of the push: JSON text.
  public var payload: [UInt8]

  /// Creates a refused push from its row.
  package init(id: Delivery.ID, refused: Timestamp, reason: String, payload: [UInt8]) {
    self.id = id
    self.refused = refused
    self.reason = reason
    self.payload = payload
  }
}
