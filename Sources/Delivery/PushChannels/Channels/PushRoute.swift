import StoreModel

/// The path of pushes to the devices that one client of a channel serves, such as the devices of
/// one app in one container and APNs environment.
public struct PushRoute: Sendable {
  /// The result of an attempt.
  public struct Report: Sendable {
    /// How far a push came on its way to the device.
    public enum Reach: Sendable, Hashable {
      /// The service answered. The web channels also use this value if a request failed without an
      /// answer, or if a delivery cannot be sent at all.
      case answered
      /// The push was sent, but no answer came.
      case unanswered
      /// The service certainly did not get the push. This attempt is not counted.
      case notSent
    }

    /// The next step for the delivery.
    public var outcome: DeliveryOutcome
    /// The answer or the failure, as text for the log.
    public var text: String
    /// How far the push came.
    public var reach: Reach
    /// The payload that was sent, as UTF-8 JSON. The server logs the payload if the outcome is
    /// ``DeliveryOutcome/fault(message:)``.
    public var payload: [UInt8]
    /// The topic that the push named to APNs; nil for the other channels.
    public var topic: String?

    /// Creates a report.
    public init(
      outcome: DeliveryOutcome, text: String, reach: Reach, payload: [UInt8], topic: String? = nil
    ) {
      self.outcome = outcome
      self.text = text
      self.reach = reach
      self.payload = payload
      self.topic = topic
    }
  }

  /// Sends a delivery (one push to one device) and calls back once with the result. The closure
  /// must not block.
  public var send:
    @Sendable (Delivery, DeliveryAttempt, @escaping @Sendable (Report) -> Void) -> Void

  /// Whether the service has refused the device for good, so that the route sends nothing.
  public var refusesDevice = false

  /// Creates a route that sends with a closure.
  public init(
    send:
      @escaping @Sendable (
        Delivery, DeliveryAttempt, @escaping @Sendable (Report) -> Void
      ) -> Void
  ) {
    self.send = send
  }
}
