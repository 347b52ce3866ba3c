import Synchronization

/// The places of all connections: ``ConnectionAdmission`` behind a lock. Acceptors take places, and
/// event loops give them back.
final class ConnectionPlaces: Sendable {
  /// The state behind the lock.
  private struct State {
    var admission: ConnectionAdmission
    /// The places of connections that no event loop has taken over yet, by descriptor.
    var handedOver: [Int32: ConnectionAdmission.Ticket] = [:]
  }

  private let state: Mutex<State>

  init(_ limits: ConnectionAdmission.Limits) {
    state = Mutex(State(admission: ConnectionAdmission(limits)))
  }

  /// Takes a place for a new connection, or returns the reason of a refusal. `makeRoom` closes up
  /// to `count` idle connections with places of this kind, and runs without the lock.
  func take(
    for peer: PeerAddress, isCapped: Bool, descriptor: Int32,
    makeRoom: (_ places: ConnectionAdmission.Places, _ count: Int) -> Void
  ) -> HTTPRefusal.Reason? {
    var cleared: Set<ConnectionAdmission.Places> = []
    while true {
      let (verdict, count) = state.withLock { state in
        let verdict = state.admission.enter(peer, isCapped: isCapped, cleared: cleared)
        if case .admitted(let ticket) = verdict { state.handedOver[descriptor] = ticket }
        return (verdict, state.admission.limits.evictedAtOnce)
      }
      switch verdict {
      case .admitted: return nil
      case .refused(let reason): return reason
      case .makeRoom(let places):
        makeRoom(places, count)
        cleared.insert(places)
      }
    }
  }

  /// Takes the place of a connection that an event loop takes over, or that no loop can take.
  func ticket(ofDescriptor descriptor: Int32) -> ConnectionAdmission.Ticket? {
    state.withLock { $0.handedOver.removeValue(forKey: descriptor) }
  }

  func promote(_ ticket: inout ConnectionAdmission.Ticket) -> Bool {
    state.withLock { $0.admission.promote(&ticket) }
  }

  func evict(_ ticket: inout ConnectionAdmission.Ticket) {
    state.withLock { $0.admission.evict(&ticket) }
  }

  func giveBack(_ ticket: ConnectionAdmission.Ticket) {
    state.withLock { $0.admission.leave(ticket) }
  }
}
