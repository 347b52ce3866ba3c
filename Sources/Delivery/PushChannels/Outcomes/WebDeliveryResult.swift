/// The result of an attempt to deliver a message to a browser or a webhook.
public struct WebDeliveryResult: Sendable, Hashable {
  /// The outcome, which says what the server does next.
  public var outcome: DeliveryOutcome
  /// The answer or the failure, as text for the administrator.
  public var detail: String

  /// Creates a result.
  public init(_ outcome: DeliveryOutcome, _ detail: String) {
    self.outcome = outcome
    self.detail = detail
  }
}
