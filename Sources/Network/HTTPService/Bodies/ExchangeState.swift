/// Where a connection stands between a request and its answer, and who has to act next: the event
/// loop, which must not wait, or the handler's task, which may answer at any moment.
///
/// Every ``Action/suspend`` is followed by exactly one ``Action/resume``.
struct ExchangeState {
  enum Event {
    /// A new request begins.
    case began
    /// The request is whole.
    case received
    /// The handler's task was started; it may have answered already.
    case handlerStarted
    /// The handler answered the request with this number.
    case handlerReturned(UInt64)
    /// The event loop asks for the answer.
    case answerWanted
    /// The answer was sent, or the connection broke.
    case ended
    /// The server stops and waits no longer.
    case abandoned
  }

  enum Action: Equatable {
    case nothing
    case startHandler
    case suspend
    case resume
    case sendAnswer
    /// Refuse the request: the server is stopping.
    case refuse
  }

  enum Phase: Equatable {
    case idle
    case receiving
    case handling(suspended: Bool)
    case answered
    case refused
    case sending
  }

  private(set) var phase = Phase.idle
  /// The number of the request, so that a late answer to an earlier one is recognised.
  private(set) var number: UInt64 = 0
  private(set) var isAbandoned = false

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
