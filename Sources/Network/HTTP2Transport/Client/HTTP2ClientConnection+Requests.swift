/// The life of a request from waiting to answered. This code runs on the loop's thread only.
extension HTTP2ClientConnection {
  /// The number of waiting requests after which ``take(_:)`` sends them at once.
  private static let batchSize = 128
  /// The size of a frame's header in bytes (RFC 9113 section 4.1).
  private static let frameHeaderBytes = 9

  /// Queues a request from the loop's own thread, which needs no lock.
  func take(_ pending: PendingRequest) {
    if let ending { return pending.completion(.failure(ending.forRequest(safeToRepeat: true))) }
    guard waiting.count < configuration.maximumWaitingRequests else {
      return pending.completion(
        .failure(.queueFull(limit: configuration.maximumWaitingRequests)))
    }
    waiting.append(pending)
    // The connection sends the batch while the caller creates the next requests, so the peer can
    // begin early.
    if waiting.count.isMultiple(of: Self.batchSize), let channel, !channel.isWithinSession {
      submitWaiting()
      return channel.flush()
    }
    guard !isCollectionScheduled else { return }
    isCollectionScheduled = true
    // The requests are sent later: this method may run within the session's callbacks, and one call
    // serves the requests that follow.
    loop.execute {
      self.isCollectionScheduled = false
      self.collect()
    }
  }

  func collect() {
    waiting.append(contentsOf: intake.collect())
    submitWaiting()
    channel?.flush()
  }

  func submitWaiting() {
    // The connection may be broken. The client could not know whether the peer received a request
    // that it sends now. So requests wait for the answer to the PING.
    guard case .open(let channel) = phase, !keepAlive.isSuspect else { return }
    let wasIdle = streams.count == 0
    var submitted = 0
    while streams.count < maximumStreams, let pending = waiting.popFirst() {
      submitted += 1
      let slot = streams.insert(ClientStream(pending, began: loop.now))
      let stream = channel.session.submitRequest(
        scheme: "https", authority: authority, pending.request, slot: slot)
      streams[slot]?.number = stream
      if stream == nil {
        _ = streams.remove(slot)
        // All stream IDs are used, or the session is ending. The caller needs a new connection in
        // both cases.
        let error = HTTP2Error(.goingAway, "the connection takes no more requests")
        pending.completion(.failure(error))
        refuseWaiting(error)
        onEvent(.goingAway(lastStream: .max, code: .noError, debugData: []))
      }
    }
    updateLoad()
    if wasIdle, submitted > 0 {
      checkKeepAlive()
      scheduleOverdueCheck()
    }
    // A connection that is ending has no more streams.
    if ending != nil, streams.count == 0, waiting.isEmpty { channel.session.terminate(.noError) }
  }

  func refuseWaiting(_ error: HTTP2Error) {
    if ending == nil { ending = error }
    let error = error.forRequest(safeToRepeat: true)
    waiting.append(contentsOf: intake.close(error))
    let refused = waiting.removeAll()
    updateLoad()
    for pending in refused { pending.completion(.failure(error)) }
  }

  func updateLoad() {
    intake.update(
      waiting: waiting.count, openStreams: streams.count, maximumStreams: maximumStreams)
  }

  // MARK: Events of the session's streams

  func sessionBeganRequest(stream: Int32) -> Int? { nil }

  func sessionReceivedHeader(
    slot: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
  ) {
    let limit = configuration.maximumHeaderBytes
    guard
      let count = streams[slot]?.receivedHeader(name: name, value: value, limit: limit)
    else { return breakOff(slot, "\(limit) bytes of header fields") }
    allowance.used(count)
  }

  /// Cancels a request whose answer is too large. `limit` is a text for the error.
  private func breakOff(_ slot: Int, _ limit: String) {
    streams[slot]?.failure = HTTP2Error(
      .answerTooLarge, "the answer is larger than the limit of \(limit)", isSafeToRepeat: false)
    if let number = streams[slot]?.number {
      channel?.session.submitReset(stream: number, code: .cancel)
    }
  }

  func sessionReceivedBody(slot: Int, stream: Int32, bytes: UnsafeBufferPointer<UInt8>) {
    guard streams[slot]?.failure == nil, let received = streams[slot]?.response.body.count else {
      return
    }
    guard received + bytes.count <= configuration.maximumResponseBytes else {
      return breakOff(slot, "\(configuration.maximumResponseBytes) bytes")
    }
    streams[slot]?.response.body.append(contentsOf: bytes)
    allowance.used(bytes.count + Self.frameHeaderBytes)
  }

  func sessionReceivedEnd(slot: Int, stream: Int32) {
    streams[slot]?.isAnswered = true
  }

  func sessionSentHeaders(slot: Int, stream: Int32) {
    streams[slot]?.isSent = true
  }

  func sessionNeedsBody(
    slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (count: Int, isEnd: Bool) {
    streams[slot]?.body.read(into: buffer) ?? (0, true)
  }

  func sessionClosedStream(slot: Int, stream: Int32, code: HTTP2ErrorCode) {
    guard let closed = streams.remove(slot), !closed.isFinished else { return }
    closed.completion(outcome(of: closed, stream: stream, code: code))
  }

  private func outcome(
    of closed: ClientStream, stream: Int32, code: HTTP2ErrorCode
  ) -> Result<HTTP2Response, HTTP2Error> {
    if let failure = closed.failure { return .failure(failure) }
    if closed.isAnswered { return .success(closed.response) }
    if stream > lastStreamOfPeer {
      return .failure(
        HTTP2Error(.goingAway, "the server closes the connection before this request"))
    }
    if code == .refusedStream {
      return .failure(HTTP2Error(.refused, "the server refused the stream", peerCode: code))
    }
    return .failure(
      HTTP2Error(
        .reset, "the server reset the request: \(code)", isSafeToRepeat: !closed.isSent,
        peerCode: code))
  }
}
