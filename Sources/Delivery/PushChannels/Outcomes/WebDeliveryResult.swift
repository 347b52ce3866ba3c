/// The result of an attempt to deliver over the web.
public struct WebDeliveryResult: Sendable, Hashable {
  public var outcome: DeliveryOutcome
  /// What happened, for the administrator.
  public var detail: String

  public init(_ outcome: DeliveryOutcome, _ detail: String) {
    self.outcome = outcome
    self.detail = detail
  }
}
