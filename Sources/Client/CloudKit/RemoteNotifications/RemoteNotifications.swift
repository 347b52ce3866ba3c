/// The notifications for this device, as they come: the `userInfo` dictionaries that Apple's systems
/// hand to `application(_:didReceiveRemoteNotification:)`. Petrel's own.
///
/// They come through the server's web courier, so that a program on Linux needs no APNs. Get one
/// from `CKContainer.remoteNotifications()`; one loop at a time may read it.
///
/// ```swift
/// for try await userInfo in container.remoteNotifications() {
///   if let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) { … }
/// }
/// ```
///
/// The sequence ends when its task is cancelled. It waits while the network or the server is down,
/// up to a minute between attempts, and throws a `CKError` only where waiting cannot help:
/// `badContainer`, `notAuthenticated`, `permissionFailure`, `invalidArguments`,
/// `serverRejectedRequest`.
public struct RemoteNotifications: AsyncSequence, Sendable {
  public typealias Element = [AnyHashable: Any]
  public typealias Failure = any Error

  private let listener: CourierListener

  init(listener: CourierListener) {
    self.listener = listener
  }

  /// Registers this device with the courier and comes back when that is done, so that no change
  /// from here on is missed. Without it, the first wait for a notification registers.
  public func register() async throws {
    try await listener.register()
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(listener: listener)
  }

  public struct Iterator: AsyncIteratorProtocol {
    let listener: CourierListener

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> [AnyHashable: Any]? {
      try await listener.next()
    }
  }
}
