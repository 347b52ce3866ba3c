/// The time limit of answers on an open connection. This code runs on the loop's thread only.
extension HTTP2ClientConnection {
  /// Sets the timer for the next check of overdue answers, unless the timer is set or no request is
  /// open.
  ///
  /// One timer serves all streams, because their time limit is the same. Each check comes at least
  /// an eighth of the limit, and at least 1 ms, after the timer is set. So a check may come that
  /// much too late. This is harmless, and a request needs no timer of its own.
  func scheduleOverdueCheck() {
    guard let timeout = configuration.answerTimeout, overdueTimer == nil, case .open = phase,
      streams.count > 0
    else { return }
    let unanswered = streams.entries.lazy.map(\.element).filter { !$0.isFinished }
    guard let earliest = unanswered.map(\.began).min() else { return }
    let delay = max(
      earliest + timeout.nanoseconds - loop.now, timeout.nanoseconds / 8, 1_000_000)
    overdueTimer = loop.schedule(after: .nanoseconds(delay)) { [weak self] in
      guard let self else { return }
      overdueTimer = nil
      breakOffOverdue(timeout)
      scheduleOverdueCheck()
    }
  }

  /// Fails the requests that have no answer after `timeout`, and resets their streams. If the peer
  /// has sent nothing since the first of these requests began, the connection sends a PING.
  private func breakOffOverdue(_ timeout: Duration) {
    guard case .open(let channel) = phase else { return }
    let overdue = streams.entries.filter {
      !$0.element.isFinished && loop.now - $0.element.began >= timeout.nanoseconds
    }
    guard !overdue.isEmpty else { return }
    for (slot, stream) in overdue {
      let error = HTTP2Error(
        .answerOverdue, "the answer did not come within \(timeout)",
        isSafeToRepeat: !stream.isSent)
      streams[slot]?.failure = error
      // The completion runs now and not at the end of the stream, because a stream cannot end while
      // the peer accepts no bytes.
      streams[slot]?.isFinished = true
      if let number = stream.number { channel.session.submitReset(stream: number, code: .cancel) }
      stream.completion(.failure(error))
    }
    if overdue.allSatisfy({ keepAlive.hasBeenSilent(since: $0.element.began) }) {
      keepAlive.suspect()
      checkKeepAlive()
    }
    // The frames that end these streams free capacity for waiting requests.
    channel.flush()
    submitWaiting()
    channel.flush()
  }
}
