import CloudKitModel

/// What became of a delivery.
public struct DeliveryUpdate: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    /// The push was accepted. With `superseding`, older ones with the same merge key that wait in
    /// the store are merged into it.
    case delivered(superseding: DeliveryMergeKey? = nil)
    /// It will not be sent any more; the text says why.
    case abandoned(reason: String)
    /// A newer one with the same merge key goes in its place: that with this number.
    case merged(into: Int64?)
    /// It was refused by a fault of ours, and is kept with the payload that was sent.
    case refused(reason: String, payload: [UInt8])
    /// It is to be tried again; the text says what happened. Only what was sent counts as an attempt.
    case retry(at: Timestamp, reason: String, wasSent: Bool)
    /// It was not tried and waits until then; the text says why.
    case postponed(until: Timestamp, reason: String)
  }

  public var id: Delivery.ID
  public var state: State
  public var timestamp: Timestamp
  /// When set, the device's token is dropped if it was last registered before this moment.
  public var dropTokenRegisteredBefore: Timestamp?

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
