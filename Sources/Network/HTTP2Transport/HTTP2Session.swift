import CNgHTTP2

/// The frames of one connection: an nghttp2 session, of either end, with bytes going in and out.
///
/// Ownership: this object owns the C session and is its user data, unretained; the C session calls
/// back only from within ``receive(_:)`` and ``send()``, while this object is alive. A stream's user
/// data, and that of its body, is its slot number plus one, not a pointer; zero stands for none.
/// Header fields and control frames are copied by nghttp2 when they are submitted.
final class HTTP2Session {
  enum Role {
    case client
    case server
    /// Gives the client room for more only by ``acknowledge(_:)``.
    case slowServer
  }

  /// Strong, for speed; ``detach()`` breaks the cycle.
  private(set) var delegate: (any HTTP2SessionDelegate)?
  private var session: OpaquePointer
  private var hasSubmittedEnd = false
  /// What the peer did wrong, when nghttp2 has ended the session for it.
  private(set) var violation: HTTP2Error?
  private var fields: [nghttp2_nv] = []

  init(role: Role, delegate: any HTTP2SessionDelegate) throws(HTTP2Error) {
    self.delegate = delegate
    var option: OpaquePointer?
    guard nghttp2_option_new(&option) == 0 else { throw Self.outOfMemory }
    defer { nghttp2_option_del(option) }
    // Closed streams are of use for priorities only, which nobody here heeds.
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

  /// Ends all calls to the delegate and lets it go.
  func detach() {
    delegate = nil
  }

  private static let outOfMemory = HTTP2Error(.systemFailure, "no memory for an HTTP/2 session")

  // MARK: Bytes

  /// Takes in what the peer sent.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    let result = nghttp2_session_mem_recv(
      session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    guard result >= 0 else {
      throw HTTP2Error(
        .protocolViolation, "the peer does not keep to HTTP/2: \(Self.text(Int32(result)))",
        isSafeToRepeat: false)
    }
  }

  /// The next bytes to send, usually one frame; nil when there is nothing to send now. They are
  /// valid until the next call.
  func send() throws(HTTP2Error) -> UnsafeBufferPointer<UInt8>? {
    var bytes: UnsafePointer<UInt8>?
    let count = nghttp2_session_mem_send(session, &bytes)
    guard count >= 0 else {
      throw HTTP2Error(
        .systemFailure, "HTTP/2 frames could not be made: \(Self.text(Int32(count)))",
        isSafeToRepeat: false)
    }
    return count == 0 ? nil : UnsafeBufferPointer(start: bytes, count: count)
  }

  /// Whether the session has come to its end: nothing to send, nothing to wait for.
  var isFinished: Bool {
    nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
  }

  /// Whether anything the peer could still send matters: false after GOAWAY of either end, when no
  /// stream is open.
  var expectsInput: Bool { nghttp2_session_want_read(session) != 0 }

  // MARK: Streams

  /// - Returns: the new stream's ID, or nil when the connection has none left or takes no more.
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

  /// Answers the request of a stream. Does nothing if the stream is gone.
  func submitResponse(stream: Int32, slot: Int, _ headers: HTTP2Headers, hasBody: Bool) {
    _ = withFields(
      headers, slot: slot, hasBody: hasBody,
      submit: { body in nghttp2_submit_response(session, stream, fields, fields.count, body) })
  }

  func submitReset(stream: Int32, code: HTTP2ErrorCode) {
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
  }

  /// The slot of an open stream.
  func slot(of stream: Int32) -> Int? {
    nghttp2_session_get_stream_user_data(session, stream).map { Int(bitPattern: $0) - 1 }
  }

  func setSlot(_ slot: Int, of stream: Int32) {
    nghttp2_session_set_stream_user_data(
      session, stream, UnsafeMutableRawPointer(bitPattern: slot + 1))
  }

  // MARK: The connection

  func submitSettings(_ settings: [(nghttp2_settings_id, UInt32)]) {
    let entries = settings.map {
      nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1)
    }
    nghttp2_submit_settings(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
  }

  /// Lets the peer send this many bytes on the connection before they were taken in.
  func setConnectionWindow(_ bytes: Int32) {
    nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, bytes)
  }

  /// Lets a client of a ``Role/slowServer`` send so many bytes more on the connection.
  func acknowledge(_ count: Int) {
    nghttp2_session_consume_connection(session, count)
  }

  func submitPing() {
    nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// - Parameter lastStream: nil for the last one that was handed to the delegate.
  func submitGoAway(lastStream: Int32?, code: HTTP2ErrorCode, debugData: [UInt8]) {
    hasSubmittedEnd = true
    let last = lastStream ?? nghttp2_session_get_last_proc_stream_id(session)
    nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, debugData, debugData.count)
  }

  /// Sends GOAWAY and then finishes, without waiting for open streams.
  func terminate(_ code: HTTP2ErrorCode) {
    hasSubmittedEnd = true
    nghttp2_session_terminate_session(session, code.rawValue)
  }

  /// Takes note of a GOAWAY that was sent. One that nobody here submitted is nghttp2's own: it tells
  /// which rule the peer broke in the debug data.
  func sentGoAway(_ code: HTTP2ErrorCode, debugData: UnsafeBufferPointer<UInt8>) {
    guard !hasSubmittedEnd, code != .noError else { return }
    let detail = debugData.isEmpty ? "" : " (\(String(decoding: debugData, as: UTF8.self)))"
    violation = HTTP2Error(
      .protocolViolation, "the peer does not keep to HTTP/2: \(code)\(detail)",
      isSafeToRepeat: false)
  }

  /// How many streams the peer lets this end have open at a time.
  var peerMaximumConcurrentStreams: UInt32 {
    nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
  }

  // MARK: Fields

  private static let authorityName = StaticString(":authority")
  private static let schemeName = StaticString(":scheme")

  /// Calls `submit` with ``fields`` pointing into `headers`, after what `prepare` added, and with a
  /// source for the body if there is one. The pointers are good until `submit` returns.
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
