/// A request on a stream of a client connection, with its answer so far.
struct ClientStream {
  var body: OutgoingBody
  let completion: HTTP2ClientConnection.Completion
  /// The time when the request got its stream, in nanoseconds of ``EventLoop/now``.
  let began: Int64
  /// The ID of the stream.
  var number: Int32?
  /// Whether the peer may have received the request.
  var isSent = false
  /// Whether the answer is complete.
  var isAnswered = false
  var response = HTTP2Response(status: 0)
  /// The size of all header fields so far, including those of interim answers.
  private var headerBytes = 0
  /// The error with which this end cancelled the stream; `nil` if it did not.
  var failure: HTTP2Error?
  /// Whether the completion was called before the end of the stream.
  var isFinished = false

  /// Begins with no answer.
  init(_ pending: PendingRequest, began: Int64) {
    body = OutgoingBody(pending.request.body)
    completion = pending.completion
    self.began = began
  }

  /// Takes a header field of the answer.
  ///
  /// - Parameter limit: the size that all header fields may have together. Each counts with 32
  ///   bytes beside its own (RFC 9113 section 10.5.1).
  /// - Returns: the number of bytes that belong to the answer itself, not to an interim one; `nil`
  ///   when the header fields pass the limit.
  mutating func receivedHeader(
    name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, limit: Int
  ) -> Int? {
    guard failure == nil else { return 0 }
    headerBytes += name.count + value.count + 32
    guard headerBytes <= limit else { return nil }
    take(name: name, value: value)
    return response.status < 200 ? 0 : name.count + value.count
  }

  private mutating func take(
    name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
  ) {
    guard name.first == UInt8(ascii: ":") else {
      response.headers.append(name, value)
      return
    }
    // `:status` is the only pseudo-header field of an answer. A second one begins the answer after
    // an interim one (1xx).
    response = HTTP2Response(status: value.reduce(0) { $0 * 10 + Int($1) - 48 })
    response.headers.reserve(fields: 6, bytes: 192)
  }
}
