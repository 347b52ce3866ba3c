import CloudKitModel

/// The outcome of a delivery. All states except `retry` and `postponed` are final. The store
/// ignores an update of a delivery that has a final state.
public struct DeliveryUpdate: Sendable, Hashable {
  /// The new state of a delivery.
  public enum State: Sendable, Hashable {
    /// The push service or the webhook accepted the push. The store merges older waiting
    /// deliveries with the key `superseding`, to the same device and in the same database, into
    /// this one.
    case delivered(superseding: DeliveryMergeKey? = nil)
    case abandoned(reason: String)
    /// The newer delivery with this number, if it is known, replaces this one.
    case merged(into: Int64?)
    /// The push service or the webhook refused the push for good (``RefusedPush``).
    case refused(reason: String, payload: [UInt8])
    /// The delivery waits for another attempt from this time on. The attempt counts only if
    /// `wasSent` is true.
    case retry(at: Timestamp, reason: String, wasSent: Bool)
    /// There was no attempt, and the delivery waits until this time.
    case postponed(until: Timestamp, reason: String)
  }

  /// The meaning of the push service's answer for the device.
  public enum DeviceVerdict: Sendable, Hashable {
    /// The token is not valid. The store deletes the registration, unless it was renewed at this
    /// time or later.
    case gone(registeredBefore: Timestamp)
    /// The service refuses the device, for APNs with this topic. The store notes it
    /// (``DeviceToken/Refusal``).
    case refused(topic: String?)
    /// The service accepts the device again. The store deletes the note of earlier refusals.
    case accepted
  }

  /// The delivery.
  public var id: Delivery.ID
  /// The new state.
  public var state: State
  /// The time of the outcome.
  public var timestamp: Timestamp
  /// The meaning of the answer for the device; nil if the device's registration stays as it is.
  public var device: DeviceVerdict?

  /// Creates an outcome for a delivery.
  public init(
    id: Delivery.ID, state: State, timestamp: Timestamp, device: DeviceVerdict? = nil
  ) {
    self.id = id
    self.state = state
    self.timestamp = timestamp
    self.device = device
  }
}

/// A push that a push service or a webhook refused for good, mostly because of a fault in Petrel
/// or in the webhook. The store keeps the payload, so that an administrator can find the fault.
public struct RefusedPush: Sendable, Hashable {
  /// The refused delivery.
  public var id: Delivery.ID
  /// The time of the refusal.
  public var refused: Timestamp
  /// The reason, with the answer of the service or the webhook.
  public var reason: String
  /// The JSON text of the push.
  public var payload: [UInt8]

  package init(id: Delivery.ID, refused: Timestamp, reason: String, payload: [UInt8]) {
    self.id = id
    self.refused = refused
    self.reason = reason
    self.payload = payload
  }
}
