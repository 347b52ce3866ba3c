import StoreModel

/// A channel to devices that sends deliveries.
public struct PushRoute: Sendable {
  /// The result of an attempt.
  public struct Report: Sendable {
    /// How far the push went.
    public enum Reach: Sendable, Hashable {
      /// The service answered.
      case answered
      /// The push was sent, and no answer came.
      case unanswered
      /// The service did not get the push, so this does not count as an attempt.
      case notSent
    }

    public var outcome: DeliveryOutcome
    /// The answer, or what happened, for people.
    public var text: String
    public var reach: Reach
    /// The sent payload, for an outcome caused by a fault in Petrel.
    public var payload: [UInt8]

    public init(outcome: DeliveryOutcome, text: String, reach: Reach, payload: [UInt8]) {
      self.outcome = outcome
      self.text = text
      self.reach = reach
      self.payload = payload
    }
  }

  /// Sends a delivery and calls back once with the result; must not block.
  public var send:
    @Sendable (Delivery, DeliveryAttempt, @escaping @Sendable (Report) -> Void) -> Void

  public init(
    send:
      @escaping @Sendable (
        Delivery, DeliveryAttempt, @escaping @Sendable (Report) -> Void
      ) -> Void
  ) {
    self.send = send
  }
}
