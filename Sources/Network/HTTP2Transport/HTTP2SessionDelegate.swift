/// The connection above an ``HTTP2Session``, which receives its events.
///
/// All calls come from within the session's `receive` and `send`. A callback may submit frames. It
/// must not call `receive` or `send` again.
///
/// A `slot` is the number that this end chose for a stream (``SlotTable``).
protocol HTTP2SessionDelegate: AnyObject {
  /// A client begins a request. Only servers receive this call.
  /// - Returns: the slot for the new stream; `nil` to refuse the request.
  func sessionBeganRequest(stream: Int32) -> Int?
  /// One header or trailer field came. The pointers are valid during the call.
  func sessionReceivedHeader(
    slot: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>)
  /// Bytes of a body came. The pointer is valid during the call.
  func sessionReceivedBody(slot: Int, stream: Int32, bytes: UnsafeBufferPointer<UInt8>)
  /// The peer's half of the stream is complete: header fields, body and trailers.
  func sessionReceivedEnd(slot: Int, stream: Int32)
  /// nghttp2 handed out the header fields of the stream for sending. From now on the peer may have
  /// seen the request.
  func sessionSentHeaders(slot: Int, stream: Int32)
  /// nghttp2 needs the next bytes of a body.
  /// - Returns: the number of bytes in `buffer`, and whether the body ends with them.
  func sessionNeedsBody(
    slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (count: Int, isEnd: Bool)
  /// The stream is over, for any reason. Its slot is free.
  func sessionClosedStream(slot: Int, stream: Int32, code: HTTP2ErrorCode)
  /// The peer's SETTINGS came; not called for acknowledgements.
  func sessionReceivedSettings()
  /// The peer's GOAWAY came. The peer does not process streams above `lastStream`.
  func sessionReceivedGoAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8])
}
