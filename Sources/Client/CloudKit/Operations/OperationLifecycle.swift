/// Where an operation stands between its making and its end, without the cancellation, which
/// Foundation keeps.
struct OperationLifecycle: Sendable, Hashable {
  private(set) var phase = Phase.waiting

  enum Phase: Sendable, Hashable {
    case waiting
    case executing
    case finished
  }

  enum Event: Sendable, Hashable {
    case start
    case finish
  }

  /// Whether the event changes the phase: an operation runs once, and what is over stays over.
  mutating func handle(_ event: Event) -> Bool {
    switch (event, phase) {
    case (.start, .waiting): phase = .executing
    case (.finish, .executing): phase = .finished
    default: return false
    }
    return true
  }
}
