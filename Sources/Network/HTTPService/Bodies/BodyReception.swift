/// Decides what becomes of a request's body while it arrives.
struct BodyReception {
  enum Event {
    /// The headers are there. The refusal is what speaks against the request for other reasons
    /// than its body's length.
    case head(RequestHead, refusal: HTTPRefusal?)
    /// So many bytes of the body arrived.
    case bytes(Int)
    /// There is no room for the bytes that just arrived.
    case bytesRefused(HTTPRefusal)
    /// The request is complete.
    case end
  }

  enum Action: Equatable {
    case receive
    case append
    /// Read on, but keep nothing: the refusal comes at the end.
    case discard
    case refuse(HTTPRefusal)
    case close
    case handle
  }

  let limit: Int
  private var refusal: HTTPRefusal?
  private var count = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// Bytes of body that are read at all; what is beyond the limit is thrown away.
  private var readLimit: Int { limit > Int.max / 2 ? Int.max : limit * 2 }

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
      // A client that waits for leave to send, or means to send too much, is answered at once.
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
