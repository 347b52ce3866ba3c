/// What an ``HTTP2Session`` tells its connection. All calls come from within the session's `receive`
/// and `send`; a call may submit frames, but not call `receive` or `send` again.
protocol HTTP2SessionDelegate: AnyObject {
  /// A client has begun a request. Servers only.
  /// - Returns: the slot for the new stream, or nil to refuse it.
  func sessionBeganRequest(stream: Int32) -> Int?
  func sessionReceivedHeader(
    slot: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>)
  func sessionReceivedBody(slot: Int, stream: Int32, bytes: UnsafeBufferPointer<UInt8>)
  /// The peer's half of the stream is whole.
  func sessionReceivedEnd(slot: Int, stream: Int32)
  /// The stream's header fields were handed out for sending.
  func sessionSentHeaders(slot: Int, stream: Int32)
  /// Asks for the next bytes of a body.
  func sessionNeedsBody(
    slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (count: Int, isEnd: Bool)
  func sessionClosedStream(slot: Int, stream: Int32, code: HTTP2ErrorCode)
  func sessionReceivedSettings()
  func sessionReceivedGoAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8])
}
