extension Connection {
  /// The number of the request, if its handler or its stream's producer is being waited for and
  /// was already when this was asked last. Quick requests are never asked for.
  func numberIfStillWaiting() -> UInt64? {
    shared.withLock { shared in
      let isWaiting: Bool
      switch shared.exchange.phase {
      case .handling(suspended: true): isWaiting = true
      case .sending: isWaiting = shared.stream?.isWaitingForProducer ?? false
      default: isWaiting = false
      }
      let number = shared.exchange.number
      defer { shared.numberSeenWaiting = isWaiting ? number : 0 }
      return isWaiting && shared.numberSeenWaiting == number ? number : nil
    }
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

  /// The library is about to close the descriptor.
  func closes() {
    shared.withLock { $0.isOpen = false }
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
