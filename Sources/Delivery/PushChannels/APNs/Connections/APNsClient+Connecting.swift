import HTTP2Transport

/// The opening and closing of connections. All methods run on the event loop's thread. Each
/// connection has a number in the client, counted from 1.
extension APNsClient {
  /// Passes an event to the pool (``APNsConnectionPool``) and performs the action that the pool
  /// returns.
  ///
  /// - Parameter reason: The text for the pushes that the client returns as not sent because of the
  ///   event.
  func handle(_ event: APNsConnectionPool.Event, reason: String = "") {
    switch pool.handle(event, at: loop.now) {
    case .none:
      break
    case .connect(let number):
      connect(number)
    case .pause(let seconds, let failsWaiting):
      if failsWaiting { failWaiting(reason) }
      loop.schedule(after: .seconds(seconds)) { [weak self] in
        guard let self else { return }
        handle(.pauseEnded)
        pump()
      }
    case .lookAgain(let delay):
      scheduleLook(after: delay)
    case .end(let numbers):
      for number in numbers { connections[number]?.close(.whenAnswered) }
    }
  }

  private func connect(_ number: Int) {
    changes.connections += 1
    do throws(HTTP2Error) {
      let connection = try HTTP2ClientConnection(configuration.connection, loop: loop) { event in
        self.handle(event, ofConnection: number)
      }
      connections[number] = connection
      connection.start()
    } catch {
      ended(number, isOrderly: false, reason: error.reason)
    }
    scheduleIdleCheck()
  }

  private func handle(_ event: HTTP2ClientConnection.Event, ofConnection number: Int) {
    switch event {
    case .opened(let limit):
      handle(.opened(number, limit: limit))
    case .limitChanged(let limit):
      handle(.limitChanged(number, limit: limit))
    case .goingAway(_, let code, let debugData):
      // Open requests still get their answers. The next push goes over another connection.
      ended(
        number, isOrderly: code == .noError,
        reason: "APNs closes the connection: \(Self.text(code, debugData))")
    case .closed(let error):
      connections[number] = nil
      ended(
        number, isOrderly: error == nil, reason: error?.reason ?? "APNs closed the connection")
      finishClosing()
    }
    schedulePump()
  }

  /// Reports to the pool that a connection takes no more pushes, and stores the reason for the
  /// metrics.
  ///
  /// - Parameter isOrderly: Whether no error ended the connection.
  private func ended(_ number: Int, isOrderly: Bool, reason: String) {
    if pool.connections.contains(where: { $0.number == number }) { changes.lastEnd = reason }
    handle(.ended(number, isOrderly: isOrderly, random: random()), reason: reason)
  }

  /// Returns the text of a GOAWAY, the HTTP/2 frame that announces the end of a connection. APNs
  /// sends the reason as JSON in the debug data. The text has at most the first 200 bytes of the
  /// data.
  private static func text(_ code: HTTP2ErrorCode, _ debugData: [UInt8]) -> String {
    guard !debugData.isEmpty else { return code.description }
    return "\(code) \(String(decoding: debugData.prefix(200), as: UTF8.self))"
  }

  /// Closes a connection on which APNs does not accept the key or certificate, when its open
  /// requests are answered. Later pushes go over new connections, so they find out when the
  /// credential is accepted again.
  func refused(_ number: Int, reason: String) {
    guard pool.connections.contains(where: { $0.number == number }) else { return }
    changes.lastEnd = reason
    handle(.refused(number, random: random()), reason: reason)
    connections[number]?.close(.whenAnswered)
  }

  // MARK: Time

  /// Runs ``pump()`` after a delay. Does nothing while an earlier call still waits.
  private func scheduleLook(after delay: Duration) {
    guard !isLookScheduled else { return }
    isLookScheduled = true
    loop.schedule(after: delay) { [weak self] in
      guard let self else { return }
      isLookScheduled = false
      pump()
    }
  }

  /// Starts the checks for idle connections, at intervals of half the idle timeout. They end when
  /// at most one connection is left.
  private func scheduleIdleCheck() {
    guard !isIdleCheckScheduled, pool.connections.count > 1 else { return }
    isIdleCheckScheduled = true
    loop.schedule(after: configuration.idleTimeout / 2) { [weak self] in
      guard let self else { return }
      isIdleCheckScheduled = false
      handle(.timePassed)
      scheduleIdleCheck()
      publishMetrics()
    }
  }

  // MARK: Closing

  /// Closes the client; see ``close()``.
  ///
  /// The client calls the completion when all connections have ended.
  func close(_ completion: @escaping @Sendable () -> Void) {
    closers.append(completion)
    queue.append(contentsOf: intake.close())
    handle(.close)
    failWaiting("the client is closed")
    for connection in connections.values { connection.close(.whenAnswered) }
    loop.schedule(after: configuration.closeTimeout) {
      for connection in self.connections.values { connection.close(.atOnce) }
    }
    finishClosing()
  }

  /// Calls the completions of ``close(_:)`` if the client is closed and no connection is left.
  private func finishClosing() {
    guard pool.isClosed, connections.isEmpty else { return }
    publishMetrics()
    let closers = closers
    self.closers = []
    for closer in closers { closer() }
  }
}
