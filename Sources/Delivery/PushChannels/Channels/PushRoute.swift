import StoreModel

/// The path of pushes to the devices that one client of a channel serves, such as the devices of
/// one app in one container and APNs environment.
public struct PushRoute: Sendable {
  /// The function that gets the answer.
  public typealias Completion = @Sendable (PushAnswer) -> Void

  /// Sends a delivery (one push to one device) and calls back once with the answer. The closure
  /// must not block. It takes a completion, because an asynchronous function would need a task for
  /// each push.
  public var send: @Sendable (Delivery, @escaping Completion) -> Void

  /// Whether the service has refused the device for good, so that the route sends nothing.
  public var refusesDevice = false

  /// Creates a route that sends with a closure.
  public init(send: @escaping @Sendable (Delivery, @escaping Completion) -> Void) {
    self.send = send
  }
}

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
