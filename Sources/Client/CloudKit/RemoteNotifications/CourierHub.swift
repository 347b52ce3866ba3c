/// The one reader of the web courier for all sync engines of a client. It passes each notification to
/// all of them.
///
/// The hub reads as long as an engine has joined it. Any thread may call the methods.
final class CourierHub: Sendable {
  /// An event that the hub passes to its receivers.
  enum Event {
    /// The device is registered: the notifications of all later changes follow.
    case began
    case notification([AnyHashable: Any])
  }

  typealias Receiver = @Sendable (Event) -> Void

  /// The receivers and the task that reads for them.
  private struct State {
    var receivers: [Int: Receiver] = [:]
    var lastReceiver = 0
    /// The task that reads, with its number; nil if none does.
    var reading: (number: Int, task: Task<Void, Never>)?
    var lastReading = 0
    /// Whether ``reading`` has registered the device.
    var hasBegun = false
  }

  /// Makes the listener of each task that reads. A new listener registers the device for the user who is
  /// signed in by then.
  private let makeListener: @Sendable () -> CourierListener
  private let state = Locked(State())

  init(makeListener: @escaping @Sendable () -> CourierListener) {
    self.makeListener = makeListener
  }

  /// Whether the hub reads. It ends after an error of the courier that another attempt would repeat, and
  /// with ``stop()``.
  var isReading: Bool { state.withLock { $0.reading != nil } }

  /// Passes events to a receiver from now on.
  ///
  /// - Returns: The number of the receiver, for ``leave(_:)``.
  func join(_ receiver: @escaping Receiver) -> Int {
    let (number, hasBegun) = state.withLock { state in
      state.lastReceiver += 1
      state.receivers[state.lastReceiver] = receiver
      if state.reading == nil {
        state.lastReading += 1
        state.hasBegun = false
        let (listener, number) = (makeListener(), state.lastReading)
        let task = Task { [weak self] in await Self.read(listener) { self?.pass($0, from: number) }
        }
        state.reading = (number, task)
      }
      return (state.lastReceiver, state.hasBegun)
    }
    if hasBegun { receiver(.began) }
    return number
  }

  /// Ends the passing of events to a receiver.
  func leave(_ receiver: Int) {
    let isUnused = state.withLock { state in
      state.receivers[receiver] = nil
      return state.receivers.isEmpty
    }
    if isUnused { stop() }
  }

  /// Stops reading, because nobody needs it or because another user is signed in. The engines join again
  /// before their next work.
  func stop() {
    let task = state.withLock { state in
      defer { state.reading = nil }
      return state.reading?.task
    }
    task?.cancel()
  }

  /// Reads the courier until the task is cancelled, or another attempt would fail too.
  ///
  /// - Parameter pass: Gets each event, and nil after the last one.
  private static func read(_ listener: CourierListener, _ pass: (Event?) -> Void) async {
    do {
      try await listener.register()
      pass(.began)
      while let notification = try await listener.next() { pass(.notification(notification)) }
    } catch {
      // The engines fetch after a quiet time all the same, and join again then.
    }
    pass(nil)
  }

  /// Passes an event of a reading task to the receivers, unless the task was stopped.
  private func pass(_ event: Event?, from number: Int) {
    let receivers = state.withLock { state -> [Receiver] in
      guard state.reading?.number == number else { return [] }
      switch event {
      case .began?: state.hasBegun = true
      case .notification?: break
      case nil: state.reading = nil
      }
      return Array(state.receivers.values)
    }
    guard let event else { return }
    for receiver in receivers { receiver(event) }
  }
}
