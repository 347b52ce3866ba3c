/// The notifications for this device, as an asynchronous sequence. It is an addition of Petrel.
///
/// Each element is the `userInfo` dictionary that `application(_:didReceiveRemoteNotification:)`
/// gets on Apple's systems. The elements come through the server's web courier, so a program on
/// Linux needs no APNs. `CKContainer.remoteNotifications()` returns the sequence. Only one loop at
/// a time may read it.
///
/// ```swift
/// for try await userInfo in container.remoteNotifications() {
///   if let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) { … }
/// }
/// ```
///
/// The sequence ends when its task is cancelled. While the network or the server is down, it waits
/// and tries again, with pauses of up to a minute. It throws a `CKError` only if waiting cannot
/// help: `badContainer`, `notAuthenticated`, `permissionFailure`, `invalidArguments` or
/// `serverRejectedRequest`.
public struct RemoteNotifications: AsyncSequence, Sendable {
  /// The `userInfo` dictionary of a notification.
  public typealias Element = [AnyHashable: Any]
  /// The type of the errors: always `CKError`.
  public typealias Failure = any Error

  private let listener: CourierListener

  init(listener: CourierListener) {
    self.listener = listener
  }

  /// Registers this device with the courier.
  ///
  /// When the method returns, no later change is missed. Without this call, the first wait for a
  /// notification registers the device.
  ///
  /// - Throws: As the sequence does; also `CancellationError` if the task is cancelled.
  public func register() async throws {
    try await listener.register()
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(listener: listener)
  }

  /// The iterator over the notifications.
  public struct Iterator: AsyncIteratorProtocol {
    let listener: CourierListener

    /// Returns the next notification, and waits until there is one. Returns nil if the task is
    /// cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> [AnyHashable: Any]? {
      try await listener.next()
    }
  }
}
