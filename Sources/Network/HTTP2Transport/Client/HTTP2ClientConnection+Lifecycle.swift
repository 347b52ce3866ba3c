import CNgHTTP2
import Foundation

/// The life of a connection, from connecting to closed. This code runs on the loop's thread only.
extension HTTP2ClientConnection: HTTP2ChannelDelegate {
  func connect() {
    guard case .idle = phase else { return }
    expectStreams(or: "the server did not open an HTTP/2 connection in time")
    let proxy = configuration.proxy
    let connector = SocketConnector(
      loop: loop, host: proxy?.host ?? configuration.host, port: proxy?.port ?? configuration.port,
      timeout: configuration.connectTimeout
    ) { result in
      switch (result, proxy) {
      case (.success(let descriptor), nil):
        self.openChannel(descriptor)
      case (.success(let descriptor), let proxy?):
        self.openTunnel(descriptor, through: proxy)
      case (.failure(let error), nil):
        self.end(error)
      case (.failure(let error), _?):
        self.end(HTTP2Error(.proxyFailed, "the proxy: \(error.reason)"))
      }
    }
    phase = .connecting(connector)
    connector.start()
  }

  /// Sets the timer that ``setMaximumStreams(_:)`` cancels when the peer's settings come.
  private func expectStreams(or reason: String) {
    connectTimer = loop.schedule(after: configuration.connectTimeout) { [weak self] in
      self?.end(HTTP2Error(.timedOut, reason))
    }
  }

  private func openTunnel(_ descriptor: Int32, through proxy: HTTPProxy) {
    let tunnel = ProxyTunnel(
      loop: loop, proxy: proxy, descriptor: descriptor, host: configuration.host,
      port: configuration.port
    ) { result in
      switch result {
      case .success(let descriptor): self.openChannel(descriptor)
      case .failure(let error): self.end(error)
      }
    }
    phase = .tunnelling(tunnel)
    tunnel.start()
  }

  private func openChannel(_ descriptor: Int32) {
    do throws(HTTP2Error) {
      let stream = try TLSStream(client: tls, descriptor: descriptor, host: configuration.host)
      let channel = try HTTP2Channel(loop: loop, stream: stream, role: .client, delegate: self)
      phase = .settingUp(channel)
      channel.start()
    } catch {
      end(error)
    }
  }

  func channelOpened() {
    allowance = InputAllowance(since: loop.now)
    channel?.session.submitSettings([
      (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(configuration.maximumHeaderBytes)),
    ])
  }

  /// Ends the connection if the peer sends too many useless bytes (``InputAllowance``).
  func channelReceived(_ count: Int) {
    keepAlive.received(at: loop.now)
    allowance.received(count)
    guard !allowance.isExceeded(at: loop.now) else {
      return end(
        HTTP2Error(
          .protocolViolation,
          "the server floods the connection: only \(allowance.useful) of \(allowance.total) bytes "
            + "belong to answers", isSafeToRepeat: false))
    }
    submitWaiting()
  }

  func sessionReceivedSettings() {
    guard let channel else { return }
    let limit = Int(channel.session.peerMaximumConcurrentStreams)
    let newMaximum = min(limit, configuration.maximumConcurrentStreams)
    if case .settingUp = phase {
      phase = .open(channel)
      setMaximumStreams(newMaximum)
      keepAlive.received(at: loop.now)
      checkKeepAlive()
      onEvent(.opened(maximumConcurrentStreams: newMaximum))
    } else if newMaximum != maximumStreams {
      setMaximumStreams(newMaximum)
      onEvent(.limitChanged(maximumConcurrentStreams: newMaximum))
    }
  }

  /// Sets the limit of streams. After a limit of 0, the connection ends unless the peer raises the
  /// limit within ``HTTP2ClientConfiguration/connectTimeout``.
  private func setMaximumStreams(_ count: Int) {
    maximumStreams = count
    if let connectTimer { loop.cancel(connectTimer) }
    connectTimer = nil
    if count == 0 {
      expectStreams(or: "the server allowed no request for \(configuration.connectTimeout)")
    }
  }

  func sessionReceivedGoAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {
    lastStreamOfPeer = min(lastStreamOfPeer, lastStream)
    refuseWaiting(
      HTTP2Error(.goingAway, "the server is closing the connection: \(code)", peerCode: code))
    onEvent(.goingAway(lastStream: lastStream, code: code, debugData: debugData))
  }

  func endWhenAnswered() {
    guard ending == nil else { return }
    switch phase {
    case .idle, .closed:
      end(nil)
    case .connecting, .tunnelling, .settingUp, .open:
      let error = HTTP2Error(.closed, "the connection is closing")
      ending = error
      waiting.append(contentsOf: intake.close(error))
      guard isOpen || !waiting.isEmpty else { return end(nil) }
      submitWaiting()
      channel?.flush()
    }
  }

  /// Closes the connection. Do not call this method from within the session's callbacks.
  func end(_ error: HTTP2Error?) {
    switch phase {
    case .closed:
      return
    case .idle:
      channelClosed(error)
    case .connecting(let connector):
      connector.cancel()
      channelClosed(error)
    case .tunnelling(let tunnel):
      tunnel.cancel()
      channelClosed(error)
    case .settingUp(let channel), .open(let channel):
      channel.close(error)
    }
  }

  /// Fails all requests and reports the end. Requests that the peer may have received fail as not
  /// safe to repeat.
  func channelClosed(_ error: HTTP2Error?) {
    phase = .closed
    for timer in [connectTimer, keepAliveTimer, overdueTimer] {
      if let timer { loop.cancel(timer) }
    }
    let reason = error ?? HTTP2Error(.closed, "the connection has ended")
    refuseWaiting(reason)
    for stream in streams.removeAll() where !stream.isFinished {
      stream.completion(.failure(reason.forRequest(safeToRepeat: !stream.isSent)))
    }
    updateLoad()
    onEvent(.closed(error))
  }

  var channel: HTTP2Channel? {
    switch phase {
    case .settingUp(let channel), .open(let channel): channel
    case .idle, .connecting, .tunnelling, .closed: nil
    }
  }

  private var isOpen: Bool {
    if case .open = phase { true } else { false }
  }

  // MARK: Keep-alive

  func checkKeepAlive() {
    guard case .open(let channel) = phase else { return }
    if let keepAliveTimer { loop.cancel(keepAliveTimer) }
    switch keepAlive.check(at: loop.now, isBusy: streams.count > 0) {
    case .giveUp:
      end(HTTP2Error(.connectionLost, "the server did not answer a PING in time"))
    case .ping:
      channel.session.submitPing()
      // Deferred, because this may run within the session's callbacks.
      loop.execute { channel.flush() }
      checkKeepAlive()
    case .wait(let time):
      keepAliveTimer = loop.schedule(after: .nanoseconds(time - loop.now)) { [weak self] in
        self?.checkKeepAlive()
      }
    }
  }
}
