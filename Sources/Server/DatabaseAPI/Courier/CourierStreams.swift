import Synchronization

/// The open event streams by the token of their reader. Each reader has at most one.
///
/// The server notices a broken connection only when it writes to it. Until then the old stream
/// would take the notifications of a reader that has already opened another stream.
final class CourierStreams: Sendable {
  /// The right of one stream to deliver, which ends when its reader opens another.
  final class Turn: Sendable {
    /// Whether the reader has opened another stream.
    private let isOver = Mutex(false)

    /// Whether the stream may still deliver.
    var isCurrent: Bool { !isOver.withLock { $0 } }

    /// Ends the right.
    fileprivate func end() { isOver.withLock { $0 = true } }
  }

  /// The current right of each reader.
  private let turns = Mutex<[String: Turn]>([:])

  /// The number of open streams.
  var count: Int { turns.withLock { $0.count } }

  /// Begins a stream and ends the reader's former one. The former stream notices this when it is
  /// woken.
  func begin(forToken token: String) -> Turn {
    let turn = Turn()
    turns.withLock { $0.updateValue(turn, forKey: token) }?.end()
    return turn
  }

  /// Removes a stream that has ended, unless the reader has opened another since.
  func end(_ turn: Turn, forToken token: String) {
    turns.withLock { turns in
      if turns[token] === turn { turns[token] = nil }
    }
  }
}
