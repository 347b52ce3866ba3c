import CloudKitModel

/// A push that was refused because of a fault in Petrel, kept to find that fault.
public struct RefusedPush: Sendable, Hashable {
  /// The refused delivery.
  public var id: Delivery.ID
  /// The time of the refusal.
  public var refused: Timestamp
  /// The service's reason.
  public var reason: String
  /// The payload that was sent.
  public var payload: [UInt8]

  /// Creates a refused push from its row.
  package init(id: Delivery.ID, refused: Timestamp, reason: String, payload: [UInt8]) {
    self.id = id
    self.refused = refused
    self.reason = reason
    self.payload = payload
  }
}
