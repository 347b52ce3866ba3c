/// A request on a stream, and what has come of its answer.
struct ClientStream {
  var body: OutgoingBody
  let completion: HTTP2ClientConnection.Completion
  /// When the request got its stream.
  let began: Int64
  /// The stream's ID.
  var number: Int32?
  /// Whether the peer may have seen the request.
  var isSent = false
  var isAnswered = false
  var response = HTTP2Response(status: 0)
  /// Of all header fields so far, those of interim answers too.
  private var headerBytes = 0
  /// Set when this end broke the stream off.
  var failure: HTTP2Error?
  /// Set when the completion was called before the stream's end.
  var isFinished = false

  init(_ pending: PendingRequest, began: Int64) {
    body = OutgoingBody(pending.request.body)
    completion = pending.completion
    self.began = began
  }

  /// - Parameter limit: bytes that all header fields may have together, each with 32 beside its own.
  /// - Returns: how many of the bytes are of the answer itself, not of an interim one; nil when the header
  ///   fields are more than the limit.
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
    // The only pseudo-header field of an answer. A second one follows an interim answer (1xx).
    response = HTTP2Response(status: value.reduce(0) { $0 * 10 + Int($1) - 48 })
    response.headers.reserve(fields: 6, bytes: 192)
  }
}
