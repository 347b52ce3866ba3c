/// The one reader of the web courier for a client. It passes each notification to all receivers: to the
/// sync engines, and to the loops over ``RemoteNotifications``.
///
/// The hub reads as long as a receiver asks for it. Any thread may call the methods.
final class CourierHub: Sendable {
  /// An event that the hub passes to its receivers.
  ///
  /// The type is `@unchecked Sendable` because a notification has only the values of a property list,
  /// which nobody changes.
  enum Event: @unchecked Sendable {
    /// The device is registered, or the courier is reached again after a failure.
    case connected
    case notification([AnyHashable: Any])
    /// The hub has stopped reading, because another attempt would fail too.
    case failed(CKError)
  }

  /// Gets the events, one after the other. It may call the hub.
  typealias Receiver = @Sendable (Event) -> Void

  /// The receivers and the task that reads for them.
  private struct State {
    var receivers: [Int: Receiver] = [:]
    var lastReceiver = 0
    var asking: Set<Int> = []
    /// The listener with the device's token; nil before the first reading.
    var listener: CourierListener?
    var isConnected = false
    /// The number of the task that reads; nil if none does.
    var reading: Int?
    /// The latest task that reads or has read, with its number.
    var latest: (number: Int, task: Task<Void, Never>)?
  }

  /// Makes a listener. A new one registers the device for the user who is signed in by then.
  private let makeListener: @Sendable () -> CourierListener
  private let state = Locked(State())

  init(makeListener: @escaping @Sendable () -> CourierListener) {
    self.makeListener = makeListener
  }

  // MARK: Receivers

  /// Passes events to a receiver from now on.
  func join(_ receiver: @escaping Receiver) -> Int {
    let (number, isConnected) = state.withLock { state in
      state.lastReceiver += 1
      state.receivers[state.lastReceiver] = receiver
      return (state.lastReceiver, state.isConnected)
    }
    if isConnected { receiver(.connected) }
    return number
  }

  func leave(_ receiver: Int) {
    state.withLock { state in
      state.receivers[receiver] = nil
      release(receiver, in: &state)
    }
  }

  /// Makes the hub read for a receiver, if it does not already.
  func ask(for receiver: Int) {
    state.withLock { state in
      state.asking.insert(receiver)
      if state.reading == nil { beginReading(in: &state) }
    }
  }

  /// Ends the reading for a receiver. Until it leaves, it gets the events that the hub reads for others.
  func release(_ receiver: Int) { state.withLock { release(receiver, in: &$0) } }

  private func release(_ receiver: Int, in state: inout State) {
    state.asking.remove(receiver)
    if state.asking.isEmpty { endReading(in: &state) }
  }

  // MARK: Reading

  /// Reads with another token, because another user is signed in.
  func restart() {
    state.withLock { state in
      endReading(in: &state)
      state.listener = nil
      state.isConnected = false
      if !state.asking.isEmpty { beginReading(in: &state) }
    }
  }

  private func beginReading(in state: inout State) {
    let listener = state.listener ?? makeListener()
    let number = (state.latest?.number ?? 0) + 1
    let former = state.latest?.task
    let task = Task { [weak self] in
      // A listener serves one task at a time.
      await former?.value
      await Self.read(listener) { self?.pass($0, of: listener, from: number) ?? false }
    }
    state.listener = listener
    state.reading = number
    state.latest = (number, task)
  }

  private func endReading(in state: inout State) {
    guard state.reading != nil else { return }
    state.reading = nil
    state.latest?.task.cancel()
  }

  /// - Parameter pass: Gets each event, and returns whether another one is asked for.
  private static func read(_ listener: CourierListener, _ pass: (Event) -> Bool) async {
    do throws(CKError) {
      try await listener.read(pass)
    } catch {
      _ = pass(.failed(error))
    }
  }

  /// Passes an event of a reading task to the receivers, unless another user is signed in. The
  /// receivers also get a notification that came when the task was ended.
  ///
  /// - Returns: Whether a receiver asks for another event. If not, the task has to end.
  private func pass(_ event: Event, of listener: CourierListener, from number: Int) -> Bool {
    let receivers = state.withLock { state -> [Receiver]? in
      guard state.listener === listener else { return nil }
      switch event {
      case .connected: state.isConnected = true
      case .notification: break
      case .failed:
        guard state.reading == number else { return nil }
        state.isConnected = false
        state.reading = nil
      }
      return state.receivers.sorted { $0.key < $1.key }.map(\.value)
    }
    guard let receivers else { return false }
    for receiver in receivers { receiver(event) }
    return state.withLock { $0.reading == number }
  }
}
