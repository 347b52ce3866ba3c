/// The connection that owns an ``HTTP2Session`` and receives the events of the session.
///
/// All calls come from within the session's `receive` and `send`. A callback may submit frames. It
/// must not call `receive` or `send` again.
///
/// A `slot` is the number that this end chose for a stream (``StreamSlots``).
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
  /// The header fields of the stream are in the bytes to send. From now on the peer may receive the
  /// request or the answer.
  func sessionSentHeaders(slot: Int, stream: Int32)
  /// The session needs the next bytes of a body.
  /// - Returns: `count`: the number of bytes written to `buffer`. `isEnd`: whether the body ends
  ///   with these bytes.
  func sessionNeedsBody(
    slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (count: Int, isEnd: Bool)
  /// The stream is closed, for any reason. The delegate frees the slot.
  func sessionClosedStream(slot: Int, stream: Int32, code: HTTP2ErrorCode)
  /// The peer's SETTINGS came; not called for acknowledgements.
  func sessionReceivedSettings()
  /// The peer's GOAWAY came. The peer does not process streams above `lastStream`.
  func sessionReceivedGoAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8])
}
