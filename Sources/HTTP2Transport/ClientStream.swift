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
  /// Set when this end broke the stream off.
  var failure: HTTP2Error?
  /// Set when the completion was called before the stream's end.
  var isFinished = false

  init(_ pending: PendingRequest, began: Int64) {
    body = OutgoingBody(pending.request.body)
    completion = pending.completion
    self.began = began
  }

  mutating func receivedHeader(
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
