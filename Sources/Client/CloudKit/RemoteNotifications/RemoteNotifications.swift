/// The notifications for this device, as an asynchronous sequence. This type is an addition of
/// Petrel.
///
/// Each element is the `userInfo` dictionary that `application(_:didReceiveRemoteNotification:)`
/// gets on Apple's systems. The sequence polls the server's web courier, so a program on Linux
/// needs no APNs. `CKContainer.remoteNotifications()` returns the sequence. Only one loop at a time
/// may read it; each call of the method returns another sequence with the same notifications.
///
/// ```swift
/// for try await userInfo in container.remoteNotifications() {
///   if let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) { … }
/// }
/// ```
///
/// The loops and the sync engines of a container poll the courier together. A sequence keeps the
/// notifications that come while its loop does other work: at most 1,000. If more come, it drops the
/// oldest.
///
/// The sequence ends when its task is cancelled. While the network or the server is down, the
/// sequence waits and tries again, usually after at most a minute. It throws a `CKError` if another
/// attempt would fail too, for example `badContainer`, `notAuthenticated`, `permissionFailure`,
/// `invalidArguments` or `quotaExceeded`.
public struct RemoteNotifications: AsyncSequence, Sendable {
  /// The `userInfo` dictionary of a notification.
  public typealias Element = [AnyHashable: Any]
  /// The type of the errors: always `CKError`.
  public typealias Failure = any Error

  private let reader: CourierReader

  init(reader: CourierReader) {
    self.reader = reader
  }

  /// Registers this device with the courier.
  ///
  /// The sequence delivers all notifications of changes that are made after this method has
  /// returned. Without this call, the first wait for a notification registers the device.
  ///
  /// - Throws: The same errors as the sequence. Also `CancellationError` if the task is cancelled.
  public func register() async throws {
    try await reader.register()
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: reader)
  }

  /// The iterator over the notifications.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: CourierReader

    /// Waits for the next notification and returns it. Returns nil if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> [AnyHashable: Any]? {
      try await reader.next()
    }
  }
}
