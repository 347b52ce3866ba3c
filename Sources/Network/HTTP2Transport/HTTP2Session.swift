import CNgHTTP2

/// The HTTP/2 protocol state of one connection: a session of nghttp2, the C library for HTTP/2. A
/// session does no I/O; its owner moves the bytes between session and socket.
///
/// Ownership: this object owns the C session. The C session has an unretained pointer to this
/// object and calls back only from within ``receive(_:)`` and ``send()``. nghttp2 copies header
/// fields and control frames when they are submitted.
///
/// nghttp2 keeps one pointer of user data for each stream and for each body. Petrel stores no
/// pointer there, but the stream's slot plus one; zero means that there is no slot. A slot is the
/// number that the delegate chose for the stream (``StreamSlots``).
final class HTTP2Session {
  /// The end of the connection that a session serves.
  enum Role {
    case client
    case server
    /// A server that lets the client send more bytes only through ``acknowledge(_:)``.
    case slowServer
  }

  /// The receiver of the session's events; `nil` after ``detach()``. A strong reference is faster
  /// than a weak one. ``detach()`` breaks the cycle of references.
  private(set) var delegate: (any HTTP2SessionDelegate)?
  private var session: OpaquePointer
  /// Whether this end submitted a GOAWAY. Otherwise a GOAWAY that the session sends comes from
  /// nghttp2 itself.
  private var hasSubmittedEnd = false
  /// The peer's violation of HTTP/2 for which nghttp2 ended the session; `nil` if there was none.
  private(set) var violation: HTTP2Error?
  /// A buffer for the header fields of one call of nghttp2, kept to save allocations.
  private var fields: [nghttp2_nv] = []

  init(role: Role, delegate: any HTTP2SessionDelegate) throws(HTTP2Error) {
    self.delegate = delegate
    var option: OpaquePointer?
    guard nghttp2_option_new(&option) == 0 else { throw Self.outOfMemory }
    defer { nghttp2_option_del(option) }
    // nghttp2 keeps closed streams for priorities only, and Petrel uses no priorities.
    nghttp2_option_set_no_closed_streams(option, 1)
    if role == .slowServer { nghttp2_option_set_no_auto_window_update(option, 1) }
    var made: OpaquePointer?
    let callbacks = HTTP2SessionCallbacks.shared
    let result =
      switch role {
      case .client: nghttp2_session_client_new2(&made, callbacks, nil, option)
      case .server, .slowServer: nghttp2_session_server_new2(&made, callbacks, nil, option)
      }
    guard result == 0, let made else { throw Self.outOfMemory }
    session = made
    nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    nghttp2_session_del(session)
  }

  func detach() {
    delegate = nil
  }

  private static let outOfMemory = HTTP2Error(.systemFailure, "no memory for an HTTP/2 session")

  // MARK: Bytes

  /// Processes bytes from the peer. The session calls the delegate for each event in them.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    let result = nghttp2_session_mem_recv(
      session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    guard result >= 0 else {
      throw HTTP2Error(
        .protocolViolation, "the peer violates HTTP/2: \(Self.text(Int32(result)))",
        isSafeToRepeat: false)
    }
  }

  /// Returns the next bytes to send, usually one frame; `nil` when there is nothing to send now.
  ///
  /// The bytes are valid until the next call.
  func send() throws(HTTP2Error) -> UnsafeBufferPointer<UInt8>? {
    var bytes: UnsafePointer<UInt8>?
    let count = nghttp2_session_mem_send(session, &bytes)
    guard count >= 0 else {
      throw HTTP2Error(
        .systemFailure, "HTTP/2 frames could not be created: \(Self.text(Int32(count)))",
        isSafeToRepeat: false)
    }
    return count == 0 ? nil : UnsafeBufferPointer(start: bytes, count: count)
  }

  /// Whether the session has ended: it has nothing to send and expects no bytes from the peer.
  var isFinished: Bool {
    nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
  }

  /// Whether the session still needs bytes from the peer. `false` after either end has sent a
  /// GOAWAY and no stream is open.
  var expectsInput: Bool { nghttp2_session_want_read(session) != 0 }

  // MARK: Streams

  /// Queues a request on a new stream and returns the stream's ID. The result is `nil` when all IDs
  /// are used or the session accepts no more requests.
  func submitRequest(
    scheme: StaticString, authority: [UInt8], _ request: HTTP2Request, slot: Int
  ) -> Int32? {
    let result = authority.withUnsafeBufferPointer { authority in
      withFields(
        request.headers, slot: slot, hasBody: !request.body.isEmpty,
        prepare: {
          // Pseudo-header fields must come before all others.
          add(Self.authorityName, authority)
          add(
            Self.schemeName,
            UnsafeBufferPointer(start: scheme.utf8Start, count: scheme.utf8CodeUnitCount))
        },
        submit: { body in
          nghttp2_submit_request(
            session, nil, fields, fields.count, body, UnsafeMutableRawPointer(bitPattern: slot + 1))
        })
    }
    return result > 0 ? result : nil
  }

  /// Queues the answer to the request of a stream. Does nothing if the stream is closed.
  func submitResponse(stream: Int32, slot: Int, _ headers: HTTP2Headers, hasBody: Bool) {
    _ = withFields(
      headers, slot: slot, hasBody: hasBody,
      submit: { body in nghttp2_submit_response(session, stream, fields, fields.count, body) })
  }

  func submitReset(stream: Int32, code: HTTP2ErrorCode) {
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
  }

  func slot(of stream: Int32) -> Int? {
    nghttp2_session_get_stream_user_data(session, stream).map { Int(bitPattern: $0) - 1 }
  }

  func setSlot(_ slot: Int, of stream: Int32) {
    nghttp2_session_set_stream_user_data(
      session, stream, UnsafeMutableRawPointer(bitPattern: slot + 1))
  }

  // MARK: The connection

  /// Queues a SETTINGS frame. The first SETTINGS frame must be the first frame of the connection
  /// (RFC 9113 section 3.4).
  func submitSettings(_ settings: [(nghttp2_settings_id, UInt32)]) {
    let entries = settings.map {
      nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1)
    }
    nghttp2_submit_settings(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
  }

  /// Sets the window of the connection: the number of bytes that the peer may send before this end
  /// has processed them.
  func setConnectionWindow(_ bytes: Int32) {
    nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, bytes)
  }

  /// Lets the client of a ``Role/slowServer`` send `count` more bytes on the connection.
  func acknowledge(_ count: Int) {
    nghttp2_session_consume_connection(session, count)
  }

  func submitPing() {
    nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Queues a GOAWAY. Without `lastStream`, it names the last stream that reached the delegate.
  func submitGoAway(lastStream: Int32?, code: HTTP2ErrorCode, debugData: [UInt8]) {
    hasSubmittedEnd = true
    let last = lastStream ?? nghttp2_session_get_last_proc_stream_id(session)
    nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, debugData, debugData.count)
  }

  /// Queues a GOAWAY. The session is finished when the GOAWAY is sent, even if streams are open.
  func terminate(_ code: HTTP2ErrorCode) {
    hasSubmittedEnd = true
    nghttp2_session_terminate_session(session, code.rawValue)
  }

  /// Records a GOAWAY that the session sends. If this end did not submit the GOAWAY, nghttp2
  /// created it. The debug data then names the rule that the peer broke.
  func sentGoAway(_ code: HTTP2ErrorCode, debugData: UnsafeBufferPointer<UInt8>) {
    guard !hasSubmittedEnd, code != .noError else { return }
    let detail = debugData.isEmpty ? "" : " (\(String(decoding: debugData, as: UTF8.self)))"
    violation = HTTP2Error(
      .protocolViolation, "the peer violates HTTP/2: \(code)\(detail)",
      isSafeToRepeat: false)
  }

  var peerMaximumConcurrentStreams: UInt32 {
    nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
  }

  // MARK: Fields

  private static let authorityName = StaticString(":authority")
  private static let schemeName = StaticString(":scheme")

  /// Fills ``fields``, first with the fields that `prepare` adds and then with those of `headers`,
  /// and calls `submit`.
  ///
  /// The entries of ``fields`` point into the bytes of `headers` and are valid until `submit`
  /// returns. `submit` gets the source of the body; `nil` if there is no body.
  private func withFields(
    _ headers: HTTP2Headers, slot: Int, hasBody: Bool, prepare: () -> Void = {},
    submit: (UnsafePointer<nghttp2_data_provider>?) -> Int32
  ) -> Int32 {
    headers.bytes.withUnsafeBufferPointer { bytes in
      fields.removeAll(keepingCapacity: true)
      prepare()
      var start = 0
      for field in headers.fields {
        let (nameEnd, valueEnd) = (Int(field.nameEnd), Int(field.valueEnd))
        add(
          UnsafeBufferPointer(rebasing: bytes[start..<nameEnd]),
          UnsafeBufferPointer(rebasing: bytes[nameEnd..<valueEnd]), isIndexed: field.isIndexed)
        start = valueEnd
      }
      guard hasBody else { return submit(nil) }
      var provider = nghttp2_data_provider()
      provider.source.ptr = UnsafeMutableRawPointer(bitPattern: slot + 1)
      provider.read_callback = HTTP2SessionCallbacks.readBody
      return submit(&provider)
    }
  }

  private func add(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>) {
    add(
      UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), value,
      isIndexed: true)
  }

  private func add(
    _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, isIndexed: Bool
  ) {
    let flags = isIndexed ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
    fields.append(
      nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.baseAddress),
        value: UnsafeMutablePointer(mutating: value.baseAddress),
        namelen: name.count, valuelen: value.count, flags: UInt8(flags.rawValue)))
  }

  private static func text(_ code: Int32) -> String {
    String(cString: nghttp2_strerror(code))
  }
}
