import StoreModel

extension Delivery {
  /// Returns the endpoint of the delivery's device: the URL and the secrets that the device
  /// registered.
  ///
  /// - Throws: `StoreError` with the code `corrupt` if the device has none.
  func endpoint() throws -> WebEndpoint {
    guard let endpoint = device.endpoint else {
      throw StoreError(.corrupt, "the device '\(device.token)' has no endpoint")
    }
    return endpoint
  }
}

extension PushRoute.Report {
  /// Creates the report of an attempt to send to a browser or a webhook.
  init(_ result: WebDeliveryResult, payload: PushPayload) {
    // A retry with the scope `push` or `route` has its cause in this server, so nothing was sent.
    var reach = Reach.answered
    if case .retry(_, let scope) = result.outcome, scope != .device { reach = .notSent }
    self.init(
      outcome: result.outcome, text: result.detail, reach: reach, payload: payload.bytes)
  }

  /// Returns the report of a delivery that cannot be sent, such as after a change of the
  /// configuration.
  static func unusable(_ delivery: Delivery, _ reason: String) -> PushRoute.Report {
    PushRoute.Report(
      outcome: .fault(message: reason), text: reason, reach: .answered,
      payload: PushPayload(delivery.notification, badge: delivery.badge, reader: .courier).bytes)
  }
}
