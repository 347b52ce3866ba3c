extension Connection {
  /// Returns the number of the request if the connection waits for its handler or stream, and did
  /// so at the last call too. So quick requests cost no poll.
  ///
  /// Cancels a handler that has taken longer than `handlingTime`; its answer is still sent.
  func numberIfStillWaiting(
    at now: ContinuousClock.Instant, handlingTime: Duration
  ) -> UInt64? {
    let (number, overdue) = shared.withLock { shared -> (UInt64?, Task<Void, Never>?) in
      let isHandling: Bool
      switch shared.exchange.phase {
      case .handling(_, suspended: true): isHandling = true
      case .sending where shared.stream?.isWaitingForProducer == true: isHandling = false
      default:
        shared.waiting = nil
        return (nil, nil)
      }
      let number = shared.exchange.number
      guard let waiting = shared.waiting, waiting.number == number else {
        shared.waiting = (number, now)
        return (nil, nil)
      }
      let isOverdue = isHandling && now - waiting.since >= handlingTime
      return (number, isOverdue ? shared.task : nil)
    }
    overdue?.cancel()
    return number
  }

  func clientLeft(number: UInt64) {
    let (task, stream) = shared.withLock { shared in
      shared.exchange.number == number ? (shared.task, shared.stream) : (nil, nil)
    }
    task?.cancel()
    stream?.cut()
  }

  /// Shuts the socket down and returns `true` if the client is too slow. The library then releases
  /// everything as when a client leaves.
  func endIfTooSlow(at now: ContinuousClock.Instant) -> Bool {
    shared.withLock { shared in
      guard shared.isOpen, shared.pace.isTooSlow(at: now) else { return false }
      shared.isOpen = false
      native.shutdown()
      return true
    }
  }

  /// Returns the time since which the server waits for the head of a request. `nil` while there is
  /// a request, after the close, or if the connection has a place of the other kind.
  func idleSince(_ kind: ConnectionAdmission.Places) -> ContinuousClock.Instant? {
    shared.withLock { shared in
      guard shared.isOpen, let ticket = shared.ticket, ticket.isReserved == (kind == .reserved)
      else { return nil }
      return shared.pace.idleSince
    }
  }

  /// Frees the place by a shutdown, unless a head is complete meanwhile. Returns whether it did.
  func endIfIdle(_ places: ConnectionPlaces) -> Bool {
    shared.withLock { shared in
      guard shared.isOpen, shared.pace.idleSince != nil, shared.ticket != nil else { return false }
      shared.isOpen = false
      // The place is given up while the lock is held, so that it is given back once.
      if var ticket = shared.ticket {
        places.evict(&ticket)
        shared.ticket = ticket
      }
      native.shutdown()
      return true
    }
  }

  /// Whether this connection may serve the request. A connection with a reserved place serves other
  /// requests only if it gets an ordinary place now.
  func hasPlace(mayUseReserve: Bool) -> Bool {
    shared.withLock { shared in
      guard !mayUseReserve, var ticket = shared.ticket, ticket.isReserved else { return true }
      defer { shared.ticket = ticket }
      return server.places?.promote(&ticket) ?? true
    }
  }

  /// Gives the place back. The library calls this just before it closes the descriptor.
  func closes() {
    if loop.begun === self { loop.begun = nil }
    let ticket = shared.withLock { shared in
      shared.isOpen = false
      defer { shared.ticket = nil }
      return shared.ticket
    }
    if let ticket { server.places?.giveBack(ticket) }
  }

  /// Stops waiting, because the server stops: cancels the handler, cuts a stream and refuses a
  /// request without an answer. The connection is never suspended again.
  func abandon() {
    let (task, stream) = shared.withLock { shared in
      if shared.exchange.handle(.abandoned) == .resume { native.resume() }
      return (shared.task, shared.stream)
    }
    task?.cancel()
    stream?.cut()
  }
}
