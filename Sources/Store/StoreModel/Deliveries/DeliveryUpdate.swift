import CloudKitModel

/// The outcome of an attempt to deliver, as the delivery worker writes it. A delivery with a final
/// state keeps it: `retry` and `postponed` are the only states that are not final.
public struct DeliveryUpdate: Sendable, Hashable {
  /// The new state of a delivery.
  public enum State: Sendable, Hashable {
    /// The push was accepted. With `superseding`, older deliveries with the same merge key that
    /// wait in the store are merged into it.
    case delivered(superseding: DeliveryMergeKey? = nil)
    /// The delivery is given up; the text says why.
    case abandoned(reason: String)
    /// A newer delivery with the same merge key replaces the delivery. The number is that of the
    /// newer one; nil leaves it open.
    case merged(into: Int64?)
    /// The push was refused because of a fault in Petrel; the sent payload is kept.
    case refused(reason: String, payload: [UInt8])
    /// The delivery is to be tried again; the text says what happened. Only a sent push counts as
    /// an attempt.
    case retry(at: Timestamp, reason: String, wasSent: Bool)
    /// The delivery was not tried and waits until then; the text says why.
    case postponed(until: Timestamp, reason: String)
  }

  /// The delivery.
  public var id: Delivery.ID
  /// The new state.
  public var state: State
  /// The time of the outcome.
  public var timestamp: Timestamp
  /// When set, the device's token is deleted if it was last registered before this time. A service
  /// says so of a token that is no longer valid; a later registration of the same token stays.
  public var dropTokenRegisteredBefore: Timestamp?

  /// Creates an outcome for a delivery.
  public init(
    id: Delivery.ID, state: State, timestamp: Timestamp,
    dropTokenRegisteredBefore: Timestamp? = nil
  ) {
    self.id = id
    self.state = state
    self.timestamp = timestamp
    self.dropTokenRegisteredBefore = dropTokenRegisteredBefore
  }
}
