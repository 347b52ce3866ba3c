/// The one reader of the web courier for all sync engines of a client. It passes each notification to
/// all of them.
///
/// The hub reads as long as an engine has joined it.
final class CourierHub: Sendable {
  typealias Receiver = @Sendable ([AnyHashable: Any]) -> Void

  /// The receivers and the task that reads for them.
  private struct State {
    var receivers: [Int: Receiver] = [:]
    var lastReader = 0
    /// The task that reads; nil if it does not.
    var task: Task<Void, Never>?
    /// The result of the registration; nil while it is not known.
    var registration: Result<Void, any Error>?
    /// The engines that wait for the registration.
    var waiting: [CheckedContinuation<Void, any Error>] = []
  }

  private let listener: CourierListener
  private let state = Locked(State())

  init(listener: CourierListener) {
    self.listener = listener
  }

  /// Passes notifications to a receiver from now on. When the method returns, the device is registered:
  /// the receiver gets the notifications of all later changes.
  ///
  /// - Returns: The number of the receiver, for ``leave(_:)``.
  /// - Throws: The error of the registration, if another attempt would fail too.
  func join(_ receiver: @escaping Receiver) async throws -> Int {
    let reader = state.withLock { state in
      state.lastReader += 1
      state.receivers[state.lastReader] = receiver
      if state.task == nil {
        state.registration = nil
        state.task = Task { [weak self, listener] in await Self.read(listener, for: { self }) }
      }
      return state.lastReader
    }
    do {
      try await withCheckedThrowingContinuation { waiter in
        let known = state.withLock { state in
          if state.registration == nil { state.waiting.append(waiter) }
          return state.registration
        }
        if let known { waiter.resume(with: known) }
      }
      return reader
    } catch {
      leave(reader)
      throw error
    }
  }

  /// Ends the passing of notifications to a receiver.
  func leave(_ reader: Int) {
    let task = state.withLock { state in
      state.receivers[reader] = nil
      guard state.receivers.isEmpty else { return nil as Task<Void, Never>? }
      defer { state.task = nil }
      return state.task
    }
    task?.cancel()
  }

  /// Reads the courier until the task is cancelled, the hub is gone, or another attempt would fail too.
  private static func read(_ listener: CourierListener, for hub: () -> CourierHub?) async {
    do {
      try await listener.register()
      hub()?.noteRegistration(.success(()))
      while let notification = try await listener.next() {
        guard let hub = hub() else { return }
        hub.pass(notification)
      }
    } catch {
      hub()?.noteRegistration(.failure(error))
    }
  }

  private func noteRegistration(_ result: Result<Void, any Error>) {
    let waiting = state.withLock { state in
      state.registration = result
      if case .failure = result { state.task = nil }
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume(with: result) }
  }

  private func pass(_ notification: [AnyHashable: Any]) {
    let receivers = state.withLock { $0.receivers.values }
    for receiver in receivers { receiver(notification) }
  }
}
