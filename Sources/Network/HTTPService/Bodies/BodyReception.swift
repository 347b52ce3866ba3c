/// The rules for the body of a request while it arrives: for each ``Event``, they give the
/// ``Action`` of the connection. It is a value without I/O.
///
/// If a request is refused, the server drops the bytes of its body but receives up to twice the
/// limit. A client that first sends everything and then reads the answer therefore gets the
/// refusal. A request that declares more than twice the limit (`Content-Length`) is refused at once.
/// If more arrives without such a declaration, the server closes the connection without an answer.
struct BodyReception {
  /// A step in the arrival of a request.
  enum Event {
    /// `refusal` is a reason against the request other than the length of its body.
    case head(RequestHead, refusal: HTTPRefusal?)
    /// The handler has answered from the head, so the body is not needed.
    case answered
    case bytes(Int)
    case bodyRefused(HTTPRefusal)
    case end
  }

  /// The work that the connection has to do after an event.
  enum Action: Equatable {
    case receive
    case append
    /// Read the bytes and drop them. The refusal or the answer follows at the end of the body.
    case discard
    /// Answer with the refusal now. Before the end of the body, the connection must close after the
    /// answer. After ``Event/end`` it may stay open.
    case refuse(HTTPRefusal)
    /// Send the answer of the handler now. The connection must close as after ``refuse(_:)``.
    case answer
    /// Close the connection without an answer.
    case close
    case handle
  }

  /// The result of the request as far as it is known before its end.
  private enum Outcome {
    case open
    case refused(HTTPRefusal)
    case answered
  }

  /// The largest body that the request may have, in bytes.
  let limit: Int
  private var outcome = Outcome.open
  private var count = 0
  /// Whether the client sends no body before it has an answer, or will send more than the server
  /// reads.
  private var mustAnswerAtOnce = false

  init(limit: Int) {
    self.limit = limit
  }

  /// The number of bytes after which the server closes the connection: twice the limit.
  private var readLimit: Int { limit > Int.max / 2 ? Int.max : limit * 2 }

  /// Processes an event. ``Event/head(_:refusal:)`` comes first.
  mutating func handle(_ event: Event) -> Action {
    switch event {
    case .head(let head, let refusal):
      count = 0
      outcome = refusal.map { .refused($0) } ?? .open
      if let violation = head.violation {
        return .refuse(HTTPRefusal(.malformed, violation))
      }
      let length = head.contentLength ?? 0
      mustAnswerAtOnce = head.expectsContinue || length > readLimit
      if length > limit { refuseTooLarge() }
      return beforeBody
    case .answered:
      outcome = .answered
      return beforeBody
    case .bytes(let more):
      count += more
      if count > readLimit { return .close }
      if count > limit { refuseTooLarge() }
      if case .open = outcome { return .append }
      return .discard
    case .bodyRefused(let refusal):
      outcome = .refused(refusal)
      return count == 0 ? beforeBody : .discard
    case .end:
      switch outcome {
      case .open: return .handle
      case .refused(let refusal): return .refuse(refusal)
      case .answered: return .answer
      }
    }
  }

  private var beforeBody: Action {
    switch outcome {
    case .open: .receive
    case .refused(let refusal): mustAnswerAtOnce ? .refuse(refusal) : .discard
    case .answered: mustAnswerAtOnce ? .answer : .discard
    }
  }

  private mutating func refuseTooLarge() {
    guard case .open = outcome else { return }
    outcome = .refused(
      HTTPRefusal(
        .bodyTooLarge, "the body is larger than \(limit) bytes; send less at a time", limit: limit))
  }
}
