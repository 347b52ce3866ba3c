import CloudKitModel

/// A push that was refused by a fault of ours, kept for those who look for the fault.
public struct RefusedPush: Sendable, Hashable {
  public var id: Delivery.ID
  public var refused: Timestamp
  /// What the service said of it.
  public var reason: String
  /// What was sent.
  public var payload: [UInt8]

  package init(id: Delivery.ID, refused: Timestamp, reason: String, payload: [UInt8]) {
    self.id = id
    self.refused = refused
    self.reason = reason
    self.payload = payload
  }
}
