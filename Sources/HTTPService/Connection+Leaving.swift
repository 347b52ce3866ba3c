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
