extension Connection {
  /// The number of the request, if its handler or its stream's producer is being waited for and
  /// was already when this was asked last. Quick requests are never asked for.
  ///
  /// A handler that was waited for longer than `handlingTime` is cancelled; its answer says why.
  func numberIfStillWaiting(
    at now: ContinuousClock.Instant, handlingTime: Duration
  ) -> UInt64? {
    let (number, overdue) = shared.withLock { shared -> (UInt64?, Task<Void, Never>?) in
      let isHandling: Bool
      switch shared.exchange.phase {
      case .handling(suspended: true): isHandling = true
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

  /// The client of this request closed the connection: nobody waits for the answer any more.
  func clientLeft(number: UInt64) {
    let (task, stream) = shared.withLock { shared in
      shared.exchange.number == number ? (shared.task, shared.stream) : (nil, nil)
    }
    task?.cancel()
    stream?.cut()
  }

  /// Ends the connection when its client had more time than it may take; tells whether it did.
  ///
  /// The library notices that the socket is shut, and lets go of everything as when a client leaves.
  func endIfTooSlow(at now: ContinuousClock.Instant, _ limits: Pace.Limits) -> Bool {
    shared.withLock { shared in
      guard shared.isOpen, shared.pace.isTooSlow(at: now, limits) else { return false }
      shared.isOpen = false
      native.shutdown()
      return true
    }
  }

  /// Since when the server waits for a request; nil while it has one, is closed, or has another place.
  func idleSince(_ kind: ConnectionAdmission.Places) -> ContinuousClock.Instant? {
    shared.withLock { shared in
      guard shared.isOpen, let ticket = shared.ticket, ticket.isReserved == (kind == .reserved)
      else { return nil }
      return shared.pace.idleSince
    }
  }

  /// Ends the connection to make room, unless a request has come meanwhile; tells whether it did.
  func endIfIdle(_ places: ConnectionPlaces) -> Bool {
    shared.withLock { shared in
      guard shared.isOpen, shared.pace.idleSince != nil, shared.ticket != nil else { return false }
      shared.isOpen = false
      // Given up with the lock held, so that the place is given back once.
      if var ticket = shared.ticket {
        places.evict(&ticket)
        shared.ticket = ticket
      }
      native.shutdown()
      return true
    }
  }

  /// Whether a request may be served on this connection: one of the reserve takes others only where there is
  /// an ordinary place by now.
  func hasPlace(mayUseReserve: Bool) -> Bool {
    shared.withLock { shared in
      guard !mayUseReserve, var ticket = shared.ticket, ticket.isReserved else { return true }
      defer { shared.ticket = ticket }
      return server.places?.promote(&ticket) ?? true
    }
  }

  /// The library is about to close the descriptor.
  func closes() {
    if loop.begun === self { loop.begun = nil }
    let ticket = shared.withLock { shared in
      shared.isOpen = false
      defer { shared.ticket = nil }
      return shared.ticket
    }
    if let ticket { server.places?.giveBack(ticket) }
  }

  /// The server waits no longer: the handler is cancelled, a stream is cut, a request that has no
  /// answer is refused, and the connection never sleeps again.
  func abandon() {
    let (task, stream) = shared.withLock { shared in
      if shared.exchange.handle(.abandoned) == .resume { native.resume() }
      return (shared.task, shared.stream)
    }
    task?.cancel()
    stream?.cut()
  }
}
