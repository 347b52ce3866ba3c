/// The receiver of one ``RemoteNotifications`` sequence: it keeps the notifications that the hub has read
/// and the loop has not taken.
final class CourierReader: Sendable {
  /// The most notifications that wait for the loop. If another one comes, the reader drops the oldest.
  static let limit = 1_000

  /// The kind of event that a call waits for.
  private enum Awaited {
    case connection
    case notification
  }

  private typealias Call = CheckedContinuation<CourierHub.Event?, any Error>

  /// The notifications that wait, and the call that waits.
  private struct State {
    var hub: (hub: CourierHub, receiver: Int)?
    var notifications: ArraySlice<CourierHub.Event> = []
    /// Whether the courier collects the device's notifications.
    var isConnected = false
    var waiter: (awaited: Awaited, call: Call)?
    var hasDropped = false
  }

  private let client: Result<WebServicesClient, CKError>
  private let state = Locked(State())

  init(client: Result<WebServicesClient, CKError>) {
    self.client = client
  }

  deinit {
    if let (hub, receiver) = state.withLock({ $0.hub }) { hub.leave(receiver) }
  }

  /// Waits until the courier collects this device's notifications.
  ///
  /// - Throws: A `CKError` after which another attempt would fail too, or `CancellationError`.
  func register() async throws {
    if try await wait(for: .connection) == nil { throw CancellationError() }
  }

  /// Waits for the next notification and returns its `userInfo` dictionary. Returns nil if the task
  /// is cancelled.
  ///
  /// - Throws: A `CKError` after which another attempt would fail too.
  func next() async throws -> [AnyHashable: Any]? {
    guard case .notification(let userInfo) = try await wait(for: .notification) else { return nil }
    return userInfo
  }

  /// Waits for an event. Returns nil if the task is cancelled.
  private func wait(for awaited: Awaited) async throws -> CourierHub.Event? {
    let (hub, receiver) = try join()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { call in
        let present = state.withLock { state -> Result<CourierHub.Event, CKError>? in
          if state.waiter != nil {
            return .failure(
              CKError(
                .internalError,
                "only one loop at a time may read a sequence of remoteNotifications()"))
          }
          switch awaited {
          case .connection where state.isConnected: return .success(.connected)
          case .notification:
            if let next = state.notifications.popFirst() { return .success(next) }
          case .connection: break
          }
          state.waiter = (awaited, call)
          return nil
        }
        switch present {
        case .success(let event): call.resume(returning: event)
        case .failure(let error): call.resume(throwing: error)
        case nil:
          hub.ask(for: receiver)
          // The task may have been cancelled before the waiter was known.
          if Task.isCancelled { endWaiting()?.resume(returning: nil) }
        }
      }
    } onCancel: {
      endWaiting()?.resume(returning: nil)
    }
  }

  private func join() throws -> (hub: CourierHub, receiver: Int) {
    if let joined = state.withLock({ $0.hub }) { return joined }
    let hub = try client.get().courierHub
    let receiver = hub.join { [weak self] in self?.receive($0) }
    let joined = state.withLock { state in
      let joined = state.hub ?? (hub, receiver)
      state.hub = joined
      return joined
    }
    if joined.receiver != receiver { hub.leave(receiver) }
    return joined
  }

  /// Takes the call that waits. The hub reads no more for this reader.
  private func endWaiting() -> Call? {
    let call = state.withLock { $0.waiter.take()?.call }
    if call != nil { release() }
    return call
  }

  private func release() {
    if let (hub, receiver) = state.withLock({ $0.hub }) { hub.release(receiver) }
  }

  /// Passes an event of the hub to the call that waits for it, or keeps it.
  private func receive(_ event: CourierHub.Event) {
    let call = state.withLock { state in
      switch event {
      case .connected:
        state.isConnected = true
        if state.waiter?.awaited == .notification { return nil as Call? }
      case .failed:
        state.isConnected = false
      case .notification:
        // A call that is cancelled from now on has the notification, and one that was cancelled before
        // leaves it to the next.
        if state.waiter?.awaited != .notification {
          keep(event, in: &state)
          return nil
        }
      }
      return state.waiter.take()?.call
    }
    guard let call else { return }
    release()
    if case .failed(let error) = event {
      call.resume(throwing: error)
    } else {
      call.resume(returning: event)
    }
  }

  private func keep(_ notification: CourierHub.Event, in state: inout State) {
    state.notifications.append(notification)
    guard state.notifications.count > Self.limit else { return }
    state.notifications.removeFirst()
    if !state.hasDropped {
      PetrelConfiguration.warn(
        "a loop over remoteNotifications() is late by \(Self.limit) notifications; the oldest are "
          + "dropped")
    }
    state.hasDropped = true
  }
}
