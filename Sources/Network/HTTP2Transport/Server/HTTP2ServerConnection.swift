import CNgHTTP2
import Synchronization

/// The server's end of one connection of an ``HTTP2Server``.
///
/// The object collects each request, passes it to the server's handler and sends the answer.
///
/// Unchecked: a lock protects `answers`; all other state is used on the loop's thread only.
final class HTTP2ServerConnection: @unchecked Sendable {
  /// A request that is arriving or waits for its answer.
  private struct Stream {
    var headers = HTTP2Headers()
    var body: [UInt8] = []
    var answer: OutgoingBody?
    /// Whether the request's body is over the limit, so that the server answers with status 413.
    var isTooLarge = false
  }

  /// The answers that handlers gave, on any thread, and that the loop has not yet submitted.
  private struct Answers {
    var waiting: [(response: HTTP2Response, stream: Int32)] = []
    var isClosed = false
  }

  private let id: HTTP2ConnectionID
  private let server: HTTP2Server
  private var channel: HTTP2Channel?
  private var streams = StreamSlots<Stream>()
  private var maximumConcurrentStreams: Int
  /// See ``HTTP2ServerConfiguration/readDelay``.
  private let readDelay: Duration?
  /// The bytes in place of which the client may not yet send others. Used with a read delay only.
  private var unacknowledged = 0
  private var isOpen = false
  private let answers = Mutex(Answers())

  /// The window of a connection without a read delay, in bytes.
  private static let connectionWindow: Int32 = 1 << 22

  init(
    id: HTTP2ConnectionID, server: HTTP2Server, maximumConcurrentStreams: Int, readDelay: Duration?
  ) {
    self.id = id
    self.server = server
    self.maximumConcurrentStreams = maximumConcurrentStreams
    self.readDelay = readDelay
  }

  func start(_ stream: TLSStream) {
    do throws(HTTP2Error) {
      let channel = try HTTP2Channel(
        loop: server.loop, stream: stream, role: readDelay == nil ? .server : .slowServer,
        delegate: self)
      self.channel = channel
      server.loop.schedule(after: server.configuration.handshakeTimeout) { [weak self] in
        guard let self, !isOpen else { return }
        self.channel?.close(HTTP2Error(.timedOut, "the TLS handshake took too long"))
      }
      channel.start()
    } catch {
      channelClosed(error)
    }
  }

  // MARK: Answers

  /// Queues an answer, from any thread. The loop's thread sends the queued answers soon, in one
  /// batch.
  ///
  /// The queue has no limit. The loop discards an answer if its stream is closed or already has an
  /// answer.
  func answer(_ response: HTTP2Response, stream: Int32) {
    let isFirst = answers.withLock { answers in
      guard !answers.isClosed else { return false }
      answers.waiting.append((response, stream))
      return answers.waiting.count == 1
    }
    if isFirst {
      server.loop.execute {
        self.submitAnswers()
        self.channel?.flush()
      }
    }
  }

  private func submitAnswers() {
    let waiting = answers.withLock { answers in
      defer { answers.waiting = [] }
      return answers.waiting
    }
    for (response, stream) in waiting { submit(response, stream: stream) }
  }

  private func submit(_ response: HTTP2Response, stream: Int32) {
    guard let channel, let slot = channel.session.slot(of: stream), streams[slot]?.answer == nil
    else { return }
    streams[slot]?.answer = OutgoingBody(response.body)
    var headers: HTTP2Headers = [":status": String(response.status)]
    headers.append(contentsOf: response.headers)
    channel.session.submitResponse(
      stream: stream, slot: slot, headers, hasBody: !response.body.isEmpty)
  }

  // MARK: Commands, on the loop's thread

  func setMaximumConcurrentStreams(_ count: Int) {
    maximumConcurrentStreams = count
    guard isOpen, let channel else { return }
    channel.session.submitSettings([
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: count))
    ])
    channel.flush()
  }

  func goAway(lastStream: Int32?, code: HTTP2ErrorCode, debugData: [UInt8]) {
    guard let channel else { return }
    submitAnswers()
    channel.session.submitGoAway(lastStream: lastStream, code: code, debugData: debugData)
    channel.flush()
  }

  func reset(stream: Int32, code: HTTP2ErrorCode) {
    guard let channel else { return }
    channel.session.submitReset(stream: stream, code: code)
    channel.flush()
  }

  func close(_ closing: HTTP2Server.Closing) {
    switch closing {
    case .whenAnswered: goAway(lastStream: nil, code: .noError, debugData: [])
    case .atOnce: channel?.close(HTTP2Error(.closed, "the server closed the connection"))
    }
  }

  func stall() {
    channel?.stall()
  }

  func resume() {
    channel?.resume()
  }
}

extension HTTP2ServerConnection: HTTP2ChannelDelegate {
  func channelOpened() {
    isOpen = true
    channel?.session.submitSettings([
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: maximumConcurrentStreams))
    ])
    if readDelay == nil { channel?.session.setConnectionWindow(Self.connectionWindow) }
    server.connectionOpened(id, certificate: channel?.peerCertificate)
  }

  func channelReceived(_ count: Int) {
    submitAnswers()
  }

  func channelClosed(_ error: HTTP2Error?) {
    channel = nil
    _ = streams.removeAll()
    answers.withLock { answers in
      answers.isClosed = true
      answers.waiting = []
    }
    server.connectionClosed(id, error, wasOpen: isOpen)
  }

  func sessionBeganRequest(stream: Int32) -> Int? {
    streams.insert(Stream())
  }

  func sessionReceivedHeader(
    slot: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
  ) {
    streams[slot]?.headers.append(name, value)
  }

  func sessionReceivedBody(slot: Int, stream: Int32, bytes: UnsafeBufferPointer<UInt8>) {
    if let readDelay { acknowledge(bytes.count, after: readDelay) }
    guard let received = streams[slot]?.body.count, streams[slot]?.answer == nil else { return }
    if received + bytes.count <= server.configuration.maximumBodyBytes {
      streams[slot]?.body.append(contentsOf: bytes)
    } else {
      streams[slot]?.isTooLarge = true
      submit(HTTP2Response(status: 413), stream: stream)
    }
  }

  /// Allows the client, after the delay, to send as many bytes again as have come until then. One
  /// timer serves all bytes that come during a delay.
  private func acknowledge(_ count: Int, after delay: Duration) {
    unacknowledged += count
    guard unacknowledged == count else { return }
    server.loop.schedule(after: delay) { [weak self] in
      guard let self, let channel else { return }
      channel.session.acknowledge(unacknowledged)
      unacknowledged = 0
      channel.flush()
    }
  }

  func sessionReceivedEnd(slot: Int, stream: Int32) {
    guard let open = streams[slot], open.answer == nil else { return }
    streams[slot]?.headers = HTTP2Headers()
    streams[slot]?.body = []
    server.handler(
      HTTP2ServerRequest(
        connection: id, stream: stream, headers: open.headers, body: open.body, answerer: self))
  }

  func sessionSentHeaders(slot: Int, stream: Int32) {
    guard streams[slot]?.isTooLarge == true else { return }
    // The answer is complete, so the server asks the client not to send the rest (RFC 9113 section
    // 8.1).
    channel?.session.submitReset(stream: stream, code: .noError)
  }

  func sessionNeedsBody(
    slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (count: Int, isEnd: Bool) {
    streams[slot]?.answer?.read(into: buffer) ?? (0, true)
  }

  func sessionClosedStream(slot: Int, stream: Int32, code: HTTP2ErrorCode) {
    _ = streams.remove(slot)
  }

  func sessionReceivedSettings() {}

  func sessionReceivedGoAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {}
}
