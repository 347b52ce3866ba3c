import Synchronization
import WebServices

/// The open event streams by the token of their reader, with at most one stream for each reader, and a
/// limit for each user.
///
/// A reader is a page or a program that gets notifications from the web courier.
///
/// The server notices only at a write that a connection is broken. Until then the old stream would
/// get the notifications of a reader that has already opened another stream.
final class CourierStreams: Sendable {
  /// The right of one stream to deliver. It ends when the stream's reader opens another stream. The
  /// stream holds the object until its connection ends.
  final class Turn: Sendable {
    private let streams: CourierStreams
    private let token: String
    private let isOver = Mutex(false)

    fileprivate init(_ streams: CourierStreams, token: String) {
      self.streams = streams
      self.token = token
    }

    deinit { streams.close(token, ObjectIdentifier(self)) }

    /// Whether the stream may still deliver.
    var isCurrent: Bool { !isOver.withLock { $0 } }

    fileprivate func end() { isOver.withLock { $0 = true } }
  }

  /// The current stream of a reader.
  private struct Stream {
    /// It is not retained: the stream ends by itself.
    weak var turn: Turn?
    let id: ObjectIdentifier
    let user: String
  }

  /// The state behind the lock.
  private struct State {
    var streams: [String: Stream] = [:]
    var countByUser: [String: Int] = [:]

    mutating func add(_ change: Int, to user: String) {
      let count = countByUser[user, default: 0] + change
      countByUser[user] = count == 0 ? nil : count
    }
  }

  private let state = Mutex(State())
  /// The most open streams of one user.
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// The number of streams that may deliver.
  var count: Int { state.withLock { $0.streams.count } }

  /// Gives a reader's new stream the right to deliver, and ends the right of the reader's earlier
  /// stream. The earlier stream ends when it next reads ``Turn/isCurrent``.
  ///
  /// - Throws: `THROTTLED` if the user's other readers have as many streams as one user may have.
  func open(forToken token: String, of user: String) throws(ServiceError) -> Turn {
    let turn = Turn(self, token: token)
    let (isOpen, earlier) = state.withLock { state in
      let earlier = state.streams[token]
      let others = state.countByUser[user, default: 0] - (earlier?.user == user ? 1 : 0)
      guard others < limit else { return (false, Turn?.none) }
      if let earlier { state.add(-1, to: earlier.user) }
      state.add(1, to: user)
      state.streams[token] = Stream(turn: turn, id: ObjectIdentifier(turn), user: user)
      return (true, earlier?.turn)
    }
    earlier?.end()
    guard isOpen else {
      throw ServiceError(
        .throttled,
        "this user has \(limit) event streams, which is the limit; close one, or poll",
        retryAfter: 60)
    }
    return turn
  }

  /// Removes a stream that has ended, unless its reader has opened another one since.
  private func close(_ token: String, _ id: ObjectIdentifier) {
    state.withLock { state in
      guard let stream = state.streams[token], stream.id == id else { return }
      state.streams[token] = nil
      state.add(-1, to: stream.user)
    }
  }
}
