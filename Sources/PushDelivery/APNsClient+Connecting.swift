import HTTP2Transport

/// From connecting to closed. All of it runs on the loop's thread.
extension APNsClient {
  func connect() {
    generation += 1
    news.connections += 1
    let number = generation
    do throws(HTTP2Error) {
      let connection = try HTTP2ClientConnection(configuration.connection, loop: loop) { event in
        self.handle(event, ofConnection: number)
      }
      connections[number] = connection
      connection.start()
    } catch {
      end(reason: error.reason)
    }
  }

  private func handle(_ event: HTTP2ClientConnection.Event, ofConnection number: Int) {
    let isCurrent = number == generation
    switch event {
    case .opened(let limit):
      if isCurrent { _ = state.handle(.opened(limit: limit)) }
    case .limitChanged(let limit):
      if isCurrent { _ = state.handle(.limitChanged(limit)) }
    case .goingAway(_, let code, let debugData):
      // It still answers what it has; the next push opens another.
      if isCurrent { end(reason: "APNs closes the connection: \(Self.text(code, debugData))") }
    case .closed(let error):
      connections[number] = nil
      if isCurrent { end(reason: error?.reason ?? "APNs closed the connection") }
      finishClosing()
    }
    schedulePump()
  }

  private func end(reason: String) {
    perform(state.handle(.ended(random: random())), reason: reason)
  }

  /// APNs says the reason in the debug data, as JSON.
  private static func text(_ code: HTTP2ErrorCode, _ debugData: [UInt8]) -> String {
    guard !debugData.isEmpty else { return code.description }
    return "\(code) \(String(decoding: debugData.prefix(200), as: UTF8.self))"
  }

  // MARK: Closing

  func close(_ completion: @escaping @Sendable () -> Void) {
    closers.append(completion)
    queue.append(contentsOf: intake.close())
    _ = state.handle(.close)
    failWaiting("the client is closed")
    for connection in connections.values { connection.close(.whenAnswered) }
    loop.schedule(after: configuration.closeTimeout) {
      for connection in self.connections.values { connection.close(.atOnce) }
    }
    finishClosing()
  }

  private func finishClosing() {
    guard state.phase == .closed, connections.isEmpty else { return }
    showNews()
    let closers = closers
    self.closers = []
    for closer in closers { closer() }
  }
}
