import Synchronization

/// The open event streams by the token of their reader, with at most one stream for each reader.
///
/// A reader is a page or a program that gets notifications from the web courier.
///
/// The server notices only at a write that a connection is broken. Until then the old stream would
/// get the notifications of a reader that has already opened another stream.
final class CourierStreams: Sendable {
  /// The right of one stream to deliver, which ends when the stream's reader opens another stream.
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

  /// The number of streams that may deliver.
  var count: Int { turns.withLock { $0.count } }

  /// Gives a reader's new stream the right to deliver, and ends the right of the reader's earlier
  /// stream. The earlier stream ends when it next reads ``Turn/isCurrent``.
  func begin(forToken token: String) -> Turn {
    let turn = Turn()
    turns.withLock { $0.updateValue(turn, forKey: token) }?.end()
    return turn
  }

  /// Removes the right of a stream that has ended, unless the reader has opened another stream
  /// since.
  func end(_ turn: Turn, forToken token: String) {
    turns.withLock { turns in
      if turns[token] === turn { turns[token] = nil }
    }
  }
}
