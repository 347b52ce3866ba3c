/// The rules for the body of a request while it arrives: for each ``Event``, they give the
/// ``Action`` of the connection. It is a value without I/O.
///
/// If a body is over the limit, the server drops its bytes but receives up to twice the limit. A
/// client that first sends everything and then reads the answer therefore gets the refusal. A
/// request that declares more than twice the limit (`Content-Length`) is refused at once. If more
/// arrives without such a declaration, the server closes the connection without an answer.
struct BodyReception {
  /// A step in the arrival of a request.
  enum Event {
    /// The header fields are complete. `refusal` is a reason against the request other than the
    /// length of its body; `nil` if there is none.
    case head(RequestHead, refusal: HTTPRefusal?)
    /// This number of bytes of the body arrived.
    case bytes(Int)
    /// The bytes that just arrived cannot be stored.
    case bytesRefused(HTTPRefusal)
    /// The request is complete.
    case end
  }

  /// The work that the connection has to do after an event.
  enum Action: Equatable {
    /// Wait for the body.
    case receive
    /// Keep the bytes.
    case append
    /// Read the bytes and drop them. The refusal follows at the end of the body.
    case discard
    /// Answer with the refusal now. After ``Event/head(_:refusal:)`` the connection must close
    /// after the answer, because the body has not been received. After ``Event/end`` it may stay
    /// open.
    case refuse(HTTPRefusal)
    /// Close the connection without an answer.
    case close
    /// Call the handler.
    case handle
  }

  /// The largest body that the request may have, in bytes.
  let limit: Int
  /// The refusal that the request gets at its end; `nil` if there is none so far.
  private var refusal: HTTPRefusal?
  /// The number of bytes of the body that arrived.
  private var count = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// The number of bytes after which the server closes the connection: twice the limit.
  private var readLimit: Int { limit > Int.max / 2 ? Int.max : limit * 2 }

  /// Processes an event and returns the work to do. A value serves one request;
  /// ``Event/head(_:refusal:)`` comes first.
  mutating func handle(_ event: Event) -> Action {
    switch event {
    case .head(let head, let refusal):
      count = 0
      self.refusal = refusal
      if let violation = head.violation {
        return .refuse(HTTPRefusal(.malformed, violation))
      }
      let length = head.contentLength ?? 0
      if refusal == nil, length > limit { self.refusal = tooLarge }
      guard let refusal = self.refusal else { return .receive }
      // A client that waits for `100 Continue`, or whose Content-Length is more than twice the
      // limit, gets the refusal at once.
      return head.expectsContinue || length > readLimit ? .refuse(refusal) : .discard
    case .bytes(let more):
      count += more
      if count > readLimit { return .close }
      if refusal == nil, count > limit { refusal = tooLarge }
      return refusal == nil ? .append : .discard
    case .bytesRefused(let refusal):
      self.refusal = refusal
      return .discard
    case .end:
      return refusal.map { .refuse($0) } ?? .handle
    }
  }

  private var tooLarge: HTTPRefusal {
    HTTPRefusal(
      .bodyTooLarge, "the body is larger than \(limit) bytes; send less at a time", limit: limit)
  }
}
