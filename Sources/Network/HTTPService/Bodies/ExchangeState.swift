/// The state of a connection from a request to the end of its answer. For each ``Event`` the state
/// returns the ``Action`` of the connection. The event loop must never wait, and the handler's task
/// may answer at any moment.
///
/// The handler works in one or two stages: on the head of a request with a large body, and on each
/// complete request. While it works, libmicrohttpd suspends the connection. Every
/// ``Action/suspend`` is followed by exactly one ``Action/resume``.
struct ExchangeState {
  /// The part of a request that a task of the handler works on.
  enum Stage: Equatable {
    /// The head, before the server receives the body.
    case head
    /// The request with its body, which the handler answers.
    case whole
  }

  /// A step in the exchange.
  enum Event {
    case began
    /// The head, or the whole request, is complete and is for the handler.
    case received(Stage)
    /// The handler's task was started. The handler may have returned already.
    case handlerStarted
    /// The handler has finished with the request of this number.
    case handlerReturned(UInt64)
    /// The event loop asks for the result.
    case resultWanted
    /// The event loop sends the answer that the handler gave from the head.
    case answeredEarly
    /// The answer was sent, or the connection broke.
    case ended
    /// The server stops and does not wait for handlers any more.
    case abandoned
  }

  /// The work that the connection has to do after an event.
  enum Action: Equatable {
    case nothing
    case startHandler
    case suspend
    case resume
    /// Do what the handler decided about the head.
    case takeDecision
    case sendAnswer
    /// Refuse the request, because the server is stopping.
    case refuse
  }

  /// The phases of an exchange. `suspended` says whether the library's connection is suspended.
  enum Phase: Equatable {
    case idle
    case receiving
    case handling(Stage, suspended: Bool)
    case returned(Stage)
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
    case (.received(let stage), .receiving):
      phase = isAbandoned ? .sending : .handling(stage, suspended: false)
      return isAbandoned ? .refuse : .startHandler
    case (.handlerStarted, .handling(let stage, _)):
      phase = .handling(stage, suspended: true)
      return .suspend
    case (.handlerReturned(number), .handling(let stage, let suspended)):
      phase = .returned(stage)
      return suspended ? .resume : .nothing
    case (.handlerStarted, .returned(.head)), (.resultWanted, .returned(.head)):
      phase = .receiving
      return .takeDecision
    case (.handlerStarted, .returned(.whole)), (.resultWanted, .returned(.whole)):
      phase = .sending
      return .sendAnswer
    case (.answeredEarly, .receiving):
      phase = .sending
      return .nothing
    case (.handlerStarted, .refused), (.resultWanted, .refused):
      phase = .sending
      return .refuse
    case (.abandoned, .handling(_, let suspended)):
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
