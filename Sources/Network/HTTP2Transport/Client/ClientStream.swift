/// A request on a stream of a client connection, with its answer so far.
struct ClientStream {
  var body: OutgoingBody
  let completion: HTTP2ClientConnection.Completion
  /// The time when the request got its stream, in nanoseconds of ``EventLoop/now``.
  let began: Int64
  /// The ID of the stream; `nil` before nghttp2, the C library for HTTP/2, has assigned one.
  var number: Int32?
  /// Whether the header fields were handed out, so that the peer may have received the request.
  var isSent = false
  var isAnswered = false
  var response = HTTP2Response(status: 0)
  /// The bytes of all header fields so far, including those of interim answers (1xx).
  private var headerBytes = 0
  /// The error for which this end cancelled the stream.
  var failure: HTTP2Error?
  /// Whether the completion was called before the end of the stream.
  var isFinished = false

  init(_ pending: PendingRequest, began: Int64) {
    body = OutgoingBody(pending.request.body)
    completion = pending.completion
    self.began = began
  }

  /// Adds a header field of the answer. Ignores it if this end has cancelled the stream.
  ///
  /// - Parameter limit: the greatest size of all header fields together, in bytes. The size of a
  ///   field is its name, its value and 32 bytes (RFC 9113 section 10.5.1).
  /// - Returns: the bytes of name and value; 0 for a field of an interim answer or of a cancelled
  ///   stream; `nil` when the header fields are larger than `limit`.
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
    // `:status` is the only pseudo-header field of an answer. A second `:status` begins the next
    // answer after an interim answer (1xx).
    response = HTTP2Response(status: value.reduce(0) { $0 * 10 + Int($1) - 48 })
    response.headers.reserve(fields: 6, bytes: 192)
  }
}
