import StoreModel

/// A way to devices over one connection of a channel, such as one app in one APNs environment.
public struct PushRoute: Sendable {
  /// The result of an attempt.
  public struct Report: Sendable {
    /// The distance that a push travelled.
    public enum Reach: Sendable, Hashable {
      /// The service answered.
      case answered
      /// The push was sent, and no answer came.
      case unanswered
      /// The service did not get the push. This does not count as an attempt.
      case notSent
    }

    /// The next step for the delivery.
    public var outcome: DeliveryOutcome
    /// The answer or the failure, as text for the log.
    public var text: String
    /// The distance that the push travelled.
    public var reach: Reach
    /// The payload that was sent, as UTF-8 JSON. It is logged if the outcome is a fault in Petrel.
    public var payload: [UInt8]

    /// Creates a report.
    public init(outcome: DeliveryOutcome, text: String, reach: Reach, payload: [UInt8]) {
      self.outcome = outcome
      self.text = text
      self.reach = reach
      self.payload = payload
    }
  }

  /// Sends a delivery and calls back once with the result. It must not block.
  public var send:
    @Sendable (Delivery, DeliveryAttempt, @escaping @Sendable (Report) -> Void) -> Void

  /// Creates a route that sends with a function.
  public init(
    send:
      @escaping @Sendable (
        Delivery, DeliveryAttempt, @escaping @Sendable (Report) -> Void
      ) -> Void
  ) {
    self.send = send
  }
}
