/// The phases of an operation from its creation to its end, as a value.
///
/// Cancellation is no phase: Foundation's `isCancelled` records it.
struct OperationLifecycle: Sendable, Hashable {
  private(set) var phase = Phase.waiting

  /// The phase of an operation.
  enum Phase: Sendable, Hashable {
    case waiting
    /// The operation has started and has blocks left to call.
    case executing
    case finished
  }

  /// An event that can change the phase.
  enum Event: Sendable, Hashable {
    case start
    case finish
  }

  /// Changes the phase as the event requires.
  ///
  /// - Returns: Whether the phase changed. A second start and a second end change nothing, so an
  ///   operation runs once.
  mutating func handle(_ event: Event) -> Bool {
    switch (event, phase) {
    case (.start, .waiting): phase = .executing
    case (.finish, .executing): phase = .finished
    default: return false
    }
    return true
  }
}
