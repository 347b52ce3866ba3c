/// Answers that do not come, while the connection lives. All of it runs on the loop's thread.
extension HTTP2ClientConnection {
  /// One timer for all streams: the time limit is the same for all, and to be a little late with it
  /// does no harm, so a request costs no timer of its own.
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
      // Told now: where the peer takes nothing any more, the stream does not end either.
      streams[slot]?.isFinished = true
      if let number = stream.number { channel.session.submitReset(stream: number, code: .cancel) }
      stream.completion(.failure(error))
    }
    if overdue.allSatisfy({ keepAlive.hasBeenSilent(since: $0.element.began) }) {
      keepAlive.suspect()
      checkKeepAlive()
    }
    // With the frames that end them the streams are free for what waits.
    channel.flush()
    submitWaiting()
    channel.flush()
  }
}
