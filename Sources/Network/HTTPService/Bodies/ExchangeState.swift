/// The state of a connection from a request to the end of its answer. For each ``Event`` the state
/// returns the ``Action`` of the connection. The event loop must never wait, and the handler's task
/// may answer at any moment.
///
/// While the handler works, libmicrohttpd suspends the connection. Every ``Action/suspend`` is
/// followed by exactly one ``Action/resume``.
struct ExchangeState {
  /// A step in the exchange.
  enum Event {
    /// A new request begins.
    case began
    /// The request is complete.
    case received
    /// The handler's task was started. The handler may have answered already.
    case handlerStarted
    /// The handler answered the request with this number.
    case handlerReturned(UInt64)
    /// The event loop asks for the answer.
    case answerWanted
    /// The answer was sent, or the connection broke.
    case ended
    /// The server stops and does not wait for handlers any more.
    case abandoned
  }

  /// The work that the connection has to do after an event.
  enum Action: Equatable {
    /// There is nothing to do.
    case nothing
    /// Start the handler's task.
    case startHandler
    /// Suspend the connection in the library.
    case suspend
    /// Resume the connection in the library.
    case resume
    /// Send the handler's answer.
    case sendAnswer
    /// Refuse the request, because the server is stopping.
    case refuse
  }

  /// The phases of an exchange. `suspended` says whether the library's connection is suspended.
  enum Phase: Equatable {
    case idle
    case receiving
    case handling(suspended: Bool)
    case answered
    case refused
    case sending
  }

  private(set) var phase = Phase.idle
  /// The number of the present request, which rises by one with each request. By this number,
  /// ``handle(_:)`` recognises a late answer to an earlier request.
  private(set) var number: UInt64 = 0
  /// Whether the server stopped waiting. The connection then starts no handler again.
  private(set) var isAbandoned = false

  /// Processes an event and returns the work to do. Events that do not fit the phase, such as a
  /// late answer, do nothing.
  mutating func handle(_ event: Event) -> Action {
    switch (event, phase) {
    case (.began, _):
      number += 1
      phase = .receiving
      return .nothing
    case (.received, .receiving):
      phase = isAbandoned ? .sending : .handling(suspended: false)
      return isAbandoned ? .refuse : .startHandler
    case (.handlerStarted, .handling):
      phase = .handling(suspended: true)
      return .suspend
    case (.handlerReturned(number), .handling(let suspended)):
      phase = .answered
      return suspended ? .resume : .nothing
    case (.handlerStarted, .answered), (.answerWanted, .answered):
      phase = .sending
      return .sendAnswer
    case (.handlerStarted, .refused), (.answerWanted, .refused):
      phase = .sending
      return .refuse
    case (.abandoned, .handling(let suspended)):
      isAbandoned = true
      phase = .refused
      return suspended ? .resume : .nothing
    case (.abandoned, _):
      isAbandoned = true
      return .nothing
    case (.ended, _):
      phase = .idle
      return .nothing
    default:
      return .nothing
    }
  }
}
