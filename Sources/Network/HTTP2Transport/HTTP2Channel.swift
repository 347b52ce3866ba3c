/// The owner of an ``HTTP2Channel``, a client or server connection. It receives the events of the
/// channel and of the channel's session.
///
/// All calls come on the thread of the channel's ``EventLoop``.
protocol HTTP2ChannelDelegate: HTTP2SessionDelegate {
  /// Runs once, after the TLS handshake. The channel sends the settings that the delegate submits
  /// here.
  func channelOpened()
  /// Runs after the session has processed a batch of `count` bytes from the peer; 0 if there was
  /// nothing to read. The channel sends the frames that the delegate submits here.
  func channelReceived(_ count: Int)
  /// Runs once, when the channel closes. The delegate receives no call after this one.
  ///
  /// - Parameter error: the reason; `nil` after an orderly end.
  func channelClosed(_ error: HTTP2Error?)
}

/// The transport of one HTTP/2 connection: it moves bytes between a socket, TLS and an
/// ``HTTP2Session``.
///
/// Client and server use the same type. A channel begins with the handshake, is then open, and is
/// closed at the end. It never opens again.
///
/// The loop keeps the channel alive while it is registered there. The delegate must not call
/// ``close(_:)`` from within a callback of the session (``isWithinSession``), because nghttp2 would
/// still use the session. nghttp2 is the C library behind ``HTTP2Session``.
///
/// Unchecked: the state of a channel is used on the loop's thread only.
final class HTTP2Channel: EventHandler, @unchecked Sendable {
  /// The phases of a channel, in their order.
  private enum Phase {
    case handshaking
    case open
    case closed
  }

  let session: HTTP2Session
  private let loop: EventLoop
  private let delegate: any HTTP2ChannelDelegate
  /// The TLS connection, which owns the socket; `nil` after the close.
  private var stream: TLSStream?
  private var token: UInt64 = 0
  /// The events that the loop reports at present. It has `.writable` only while the socket takes no
  /// more bytes.
  private var interest: Readiness = .readable
  private var phase = Phase.handshaking
  /// Whether ``stall()`` stopped the channel. The descriptor is then not registered at the loop.
  private var isStalled = false
  /// Whether a call is running within which the session calls its delegate.
  private(set) var isWithinSession = false

  /// The bytes of frames that the session produced. The bytes before `outputOffset` are already
  /// written to the socket.
  private var output: [UInt8] = []
  private var outputOffset = 0

  /// The number of bytes to collect before a write, so that many small frames cost one system call.
  private static let outputTarget = 65536
  /// The greatest number of reads before the loop serves its other descriptors.
  private static let readsPerRound = 8

  init(
    loop: EventLoop, stream: TLSStream, role: HTTP2Session.Role,
    delegate: any HTTP2ChannelDelegate
  ) throws(HTTP2Error) {
    self.loop = loop
    self.stream = stream
    self.delegate = delegate
    session = try HTTP2Session(role: role, delegate: delegate)
    output.reserveCapacity(Self.outputTarget + 16384)
  }

  var peerCertificate: TLSPeerCertificate? { stream?.peerCertificate }

  /// Begins the TLS handshake. Call this method once, on the loop's thread.
  func start() {
    guard let stream else { return }
    token = loop.register(stream.descriptor, interest, self)
    handle(.readable)
  }

  func handle(_ readiness: Readiness) {
    guard let stream, !isStalled else { return }
    do throws(HTTP2Error) {
      if phase == .handshaking { try shakeHands(stream) }
      guard phase == .open else { return }
      try receive(from: stream)
    } catch {
      fail(error)
    }
    flush()
  }

  /// Sends the submitted frames until the socket accepts no more bytes. The channel sends the
  /// remaining bytes when the socket becomes writable.
  ///
  /// The channel closes here when the session is finished and all bytes are sent. The call does
  /// nothing before the end of the handshake, after the close, and while the channel is stalled.
  func flush() {
    guard let stream, phase == .open, !isStalled else { return }
    do throws(HTTP2Error) {
      let isBlocked = try send(to: stream)
      setInterest(isBlocked ? [.readable, .writable] : .readable)
      if !isBlocked, session.isFinished { close(session.violation) }
    } catch {
      // A peer that ends a connection often sends its reason (GOAWAY) first. That frame may still
      // wait in the socket. An error of this read adds nothing to the error of the write.
      try? receive(from: stream)
      fail(error)
    }
  }

  /// Closes the socket. Without an error, the channel first sends the closure alert of TLS.
  func close(_ error: HTTP2Error?) {
    guard let stream, phase != .closed else { return }
    phase = .closed
    session.detach()
    if !isStalled { loop.unregister(stream.descriptor, token: token) }
    if error == nil { stream.sendClosure() }
    self.stream = nil
    delegate.channelClosed(error)
  }

  /// Stops reading and writing while the connection stays open. Tests use this to simulate a dead
  /// network.
  func stall() {
    guard let stream, !isStalled else { return }
    isStalled = true
    loop.unregister(stream.descriptor, token: token)
  }

  func resume() {
    guard let stream, isStalled else { return }
    isStalled = false
    token = loop.register(stream.descriptor, interest, self)
    handle(.readable)
  }

  // MARK: Steps

  private func shakeHands(_ stream: TLSStream) throws(HTTP2Error) {
    switch try stream.handshake() {
    case .done:
      phase = .open
      delegate.channelOpened()
    case .wantsRead:
      setInterest(.readable)
    case .wantsWrite:
      setInterest(.writable)
    case .ended:
      throw HTTP2Error(.connectionLost, "the peer ended the connection during the TLS handshake")
    }
  }

  /// Passes the bytes of at most ``readsPerRound`` reads to the session.
  private func receive(from stream: TLSStream) throws(HTTP2Error) {
    var received = 0
    defer { if phase == .open { delegate.channelReceived(received) } }
    for _ in 0..<Self.readsPerRound {
      switch try stream.read(into: loop.readBuffer) {
      case .done(let count):
        received += count
        isWithinSession = true
        defer { isWithinSession = false }
        try session.receive(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
      case .wantsRead, .wantsWrite:
        return
      case .ended:
        throw HTTP2Error(.connectionLost, "the peer ended the connection")
      }
    }
  }

  /// Writes frames. Returns `true` if bytes are left because the socket accepts no more for now.
  private func send(to stream: TLSStream) throws(HTTP2Error) -> Bool {
    while true {
      if outputOffset == output.count {
        output.removeAll(keepingCapacity: true)
        outputOffset = 0
        isWithinSession = true
        defer { isWithinSession = false }
        while output.count < Self.outputTarget, let bytes = try session.send() {
          output.append(contentsOf: bytes)
        }
        if output.isEmpty { return false }
      }
      let result = output.withUnsafeBytes { bytes in
        Result { () throws(HTTP2Error) in
          try stream.write(UnsafeRawBufferPointer(rebasing: bytes[outputOffset...]))
        }
      }
      switch try result.get() {
      case .done(let count): outputOffset += count
      case .wantsWrite, .wantsRead: return true
      case .ended: throw HTTP2Error(.connectionLost, "the peer ended the connection")
      }
    }
  }

  /// Closes the channel with `error`. If the connection is lost when the session expects no more
  /// input, this is an orderly end, and the channel closes without that error.
  private func fail(_ error: HTTP2Error) {
    let isOrderly = phase == .open && error.code == .connectionLost && !session.expectsInput
    close(isOrderly ? session.violation : error)
  }

  private func setInterest(_ newInterest: Readiness) {
    guard let stream, newInterest != interest else { return }
    interest = newInterest
    loop.modify(stream.descriptor, interest, token: token)
  }
}
