/// The result of an attempt to deliver a message over the web.
public struct WebDeliveryResult: Sendable, Hashable {
  /// The next step for the delivery.
  public var outcome: DeliveryOutcome
  /// The answer or the failure, as text for the administrator.
  public var detail: String

  /// Creates a result.
  public init(_ outcome: DeliveryOutcome, _ detail: String) {
    self.outcome = outcome
    self.detail = detail
  }
}
