import CNgHTTP2

/// The functions that nghttp2, the C library for HTTP/2, calls. Each function finds its
/// ``HTTP2Session`` in the user data and calls the session's delegate.
///
/// A slot is the number that the delegate chose for a stream (``StreamSlots``).
///
/// None of them keeps a pointer from nghttp2 after it returns.
enum HTTP2SessionCallbacks {
  /// The set of callbacks that all sessions use; `nil` when there was no memory. The set is created
  /// once, never changed and never freed.
  nonisolated(unsafe) static let shared: OpaquePointer? = {
    var callbacks: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, beganHeaders)
    nghttp2_session_callbacks_set_on_header_callback(callbacks, receivedHeader)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, receivedBody)
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, receivedFrame)
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, sentFrame)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closedStream)
    return callbacks
  }()

  /// Fills the buffer of a DATA frame with the next bytes of a body. Without a session or a slot,
  /// nghttp2 resets the stream.
  static let readBody: nghttp2_data_source_read_callback = {
    _, _, buffer, length, flags, source, userData in
    guard
      let session = session(userData), let delegate = session.delegate,
      let slot = slot(source?.pointee.ptr)
    else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    let (count, isEnd) = delegate.sessionNeedsBody(
      slot: slot, into: UnsafeMutableBufferPointer(start: buffer, count: length))
    if isEnd { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
  }

  /// Runs at the first HEADERS frame of a request. It does something on a server only.
  private static let beganHeaders: nghttp2_on_begin_headers_callback = { _, frame, userData in
    guard
      let session = session(userData), let delegate = session.delegate, let frame,
      frame.pointee.hd.type == headersType,
      frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
    else { return 0 }
    let stream = frame.pointee.hd.stream_id
    guard let slot = delegate.sessionBeganRequest(stream: stream) else {
      // nghttp2 answers this result with RST_STREAM.
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    session.setSlot(slot, of: stream)
    return 0
  }

  private static let receivedHeader: nghttp2_on_header_callback = {
    _, frame, name, nameLength, value, valueLength, _, userData in
    guard
      let session = session(userData), let frame,
      let slot = session.slot(of: frame.pointee.hd.stream_id)
    else { return 0 }
    session.delegate?.sessionReceivedHeader(
      slot: slot, name: UnsafeBufferPointer(start: name, count: nameLength),
      value: UnsafeBufferPointer(start: value, count: valueLength))
    return 0
  }

  private static let receivedBody: nghttp2_on_data_chunk_recv_callback = {
    _, _, stream, bytes, count, userData in
    guard let session = session(userData), let slot = session.slot(of: stream) else { return 0 }
    session.delegate?.sessionReceivedBody(
      slot: slot, stream: stream, bytes: UnsafeBufferPointer(start: bytes, count: count))
    return 0
  }

  /// Runs after a whole frame came. It reports the end of the peer's half of a stream, settings and
  /// GOAWAY.
  private static let receivedFrame: nghttp2_on_frame_recv_callback = { _, frame, userData in
    guard let session = session(userData), let delegate = session.delegate, let frame else {
      return 0
    }
    let header = frame.pointee.hd
    switch header.type {
    case headersType, dataType:
      if header.flags & endOfStream != 0, let slot = session.slot(of: header.stream_id) {
        delegate.sessionReceivedEnd(slot: slot, stream: header.stream_id)
      }
    case UInt8(NGHTTP2_SETTINGS.rawValue):
      if header.flags & acknowledgement == 0 { delegate.sessionReceivedSettings() }
    case UInt8(NGHTTP2_GOAWAY.rawValue):
      let goAway = frame.pointee.goaway
      delegate.sessionReceivedGoAway(
        lastStream: goAway.last_stream_id, code: HTTP2ErrorCode(rawValue: goAway.error_code),
        debugData: Array(
          UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)))
    default:
      break
    }
    return 0
  }

  /// Runs after nghttp2 has put a frame into the bytes to send. It reports GOAWAY frames and the
  /// header fields of a stream.
  private static let sentFrame: nghttp2_on_frame_send_callback = { _, frame, userData in
    guard let session = session(userData), let frame else { return 0 }
    if frame.pointee.hd.type == UInt8(NGHTTP2_GOAWAY.rawValue) {
      let goAway = frame.pointee.goaway
      session.sentGoAway(
        HTTP2ErrorCode(rawValue: goAway.error_code),
        debugData: UnsafeBufferPointer(
          start: goAway.opaque_data, count: goAway.opaque_data_len))
    }
    guard frame.pointee.hd.type == headersType,
      let slot = session.slot(of: frame.pointee.hd.stream_id)
    else { return 0 }
    session.delegate?.sessionSentHeaders(slot: slot, stream: frame.pointee.hd.stream_id)
    return 0
  }

  private static let closedStream: nghttp2_on_stream_close_callback = {
    _, stream, code, userData in
    guard let session = session(userData), let slot = session.slot(of: stream) else { return 0 }
    session.delegate?.sessionClosedStream(
      slot: slot, stream: stream, code: HTTP2ErrorCode(rawValue: code))
    return 0
  }

  private static let headersType = UInt8(NGHTTP2_HEADERS.rawValue)
  private static let dataType = UInt8(NGHTTP2_DATA.rawValue)
  private static let endOfStream = UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)
  private static let acknowledgement = UInt8(NGHTTP2_FLAG_ACK.rawValue)

  private static func session(_ userData: UnsafeMutableRawPointer?) -> HTTP2Session? {
    userData.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Returns the slot in the user data of a stream or body: the pointer is the slot plus one.
  private static func slot(_ pointer: UnsafeMutableRawPointer?) -> Int? {
    pointer.map { Int(bitPattern: $0) - 1 }
  }
}
