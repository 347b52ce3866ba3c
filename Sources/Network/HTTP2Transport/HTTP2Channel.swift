/// What an ``HTTP2Channel`` tells its connection beside the session's news.
protocol HTTP2ChannelDelegate: HTTP2SessionDelegate {
  /// TLS is up; settings can be submitted, and are sent when this returns.
  func channelOpened()
  /// A batch of input of so many bytes was taken in; what is submitted now is sent when this returns.
  func channelReceived(_ count: Int)
  /// The channel is closed; nothing more will be called. Nil when the session came to its end.
  func channelClosed(_ error: HTTP2Error?)
}

/// Moves bytes between a socket, TLS and an HTTP/2 session, for either end.
///
/// Lives on its loop's thread. The loop keeps it alive while it is open. ``close(_:)`` must not be
/// called from within the session's calls to its delegate. Unchecked, for nothing of it is touched
/// on another thread.
final class HTTP2Channel: EventHandler, @unchecked Sendable {
  private enum Phase {
    case handshaking
    case open
    case closed
  }

  let session: HTTP2Session
  private let loop: EventLoop
  private let delegate: any HTTP2ChannelDelegate
  private var stream: TLSStream?
  private var token: UInt64 = 0
  private var interest: Readiness = .readable
  private var phase = Phase.handshaking
  private var isStalled = false
  /// Whether the session is calling its delegate, or may.
  private(set) var isWithinSession = false

  private var output: [UInt8] = []
  private var outputOffset = 0

  /// So many bytes are gathered before they are written: many frames, few calls.
  private static let outputTarget = 65536
  /// So many reads in a row, then the loop's other descriptors have their turn.
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

  /// See ``TLSStream/peerCertificate``.
  var peerCertificate: TLSPeerCertificate? { stream?.peerCertificate }

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

  /// Sends what was submitted, as far as the socket takes it; the rest follows by itself.
  func flush() {
    guard let stream, phase == .open, !isStalled else { return }
    do throws(HTTP2Error) {
      let isBlocked = try send(to: stream)
      setInterest(isBlocked ? [.readable, .writable] : .readable)
      if !isBlocked, session.isFinished { close(session.violation) }
    } catch {
      // The peer's last words may still wait in the socket.
      try? receive(from: stream)
      fail(error)
    }
  }

  func close(_ error: HTTP2Error?) {
    guard let stream, phase != .closed else { return }
    phase = .closed
    session.detach()
    if !isStalled { loop.unregister(stream.descriptor, token: token) }
    if error == nil { stream.sendClosure() }
    self.stream = nil
    delegate.channelClosed(error)
  }

  /// Stops reading and writing while the connection stays open.
  func stall() {
    guard let stream, !isStalled else { return }
    isStalled = true
    loop.unregister(stream.descriptor, token: token)
  }

  /// Goes on after ``stall()``.
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

  /// - Returns: whether the socket takes no more for now.
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

  /// Closes with `error`, unless it is only the peer hanging up after all was said.
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
