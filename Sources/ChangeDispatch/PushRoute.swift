import PushDelivery

/// The way to the devices of one app: its topic, and what sends its pushes.
public struct PushRoute: Sendable {
  /// `apns-topic`, normally the app's bundle ID.
  public var topic: String
  /// Sends a push and calls back once with what came of it. Must not block.
  public var send: @Sendable (Push, @escaping @Sendable (APNsResult) -> Void) -> Void

  public init(
    topic: String,
    send: @escaping @Sendable (Push, @escaping @Sendable (APNsResult) -> Void) -> Void
  ) {
    self.topic = topic
    self.send = send
  }
}
