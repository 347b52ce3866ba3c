import StoreModel

extension Delivery {
  func endpoint() throws -> WebEndpoint {
    guard let endpoint = device.endpoint else {
      throw StoreError(.corrupt, "the device '\(device.token)' has no endpoint")
    }
    return endpoint
  }
}

extension PushRoute.Report {
  init(_ result: WebDeliveryResult, payload: PushPayload) {
    // What concerns more than the endpoint is a failure of this server's own.
    var reach = Reach.answered
    if case .retry(_, let scope) = result.outcome, scope != .device { reach = .notSent }
    self.init(
      outcome: result.outcome, text: result.detail, reach: reach, payload: payload.bytes)
  }

  /// A delivery that cannot be sent, as after the configuration was changed.
  static func unusable(_ delivery: Delivery, _ reason: String) -> PushRoute.Report {
    PushRoute.Report(
      outcome: .fault(message: reason), text: reason, reach: .answered,
      payload: PushPayload(delivery.notification, badge: delivery.badge, reader: .courier).bytes)
  }
}
