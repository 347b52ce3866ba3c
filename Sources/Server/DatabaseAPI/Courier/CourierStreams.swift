import Synchronization

/// The event streams that are open, by the token of their reader: each reader has one.
///
/// A connection that broke off is noticed when something is written to it. Until then its stream would
/// take what comes for the reader, who listens to another by then.
final class CourierStreams: Sendable {
  /// A stream, until its reader opens another.
  final class Turn: Sendable {
    private let isOver = Mutex(false)

    var isCurrent: Bool { !isOver.withLock { $0 } }

    fileprivate func end() { isOver.withLock { $0 = true } }
  }

  private let turns = Mutex<[String: Turn]>([:])

  var count: Int { turns.withLock { $0.count } }

  /// Begins a stream, and ends the one before; that one sees it when it is woken.
  func begin(forToken token: String) -> Turn {
    let turn = Turn()
    turns.withLock { $0.updateValue(turn, forKey: token) }?.end()
    return turn
  }

  func end(_ turn: Turn, forToken token: String) {
    turns.withLock { turns in
      if turns[token] === turn { turns[token] = nil }
    }
  }
}
