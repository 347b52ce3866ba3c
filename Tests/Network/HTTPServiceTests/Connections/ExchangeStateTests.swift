import Testing

@testable import HTTPService

struct ExchangeStateTests {
  @Test("an answer that comes after the connection went to sleep wakes it")
  func slowHandler() {
    var state = ExchangeState()
    #expect(state.handle(.began) == .nothing)
    #expect(state.handle(.received(.whole)) == .startHandler)
    #expect(state.handle(.handlerStarted) == .suspend)
    #expect(state.handle(.handlerReturned(1)) == .resume)
    #expect(state.handle(.resultWanted) == .sendAnswer)
    #expect(state.handle(.ended) == .nothing)
  }

  @Test("an answer that comes first is sent without any sleep")
  func quickHandler() {
    var state = ExchangeState()
    _ = state.handle(.began)
    _ = state.handle(.received(.whole))
    #expect(state.handle(.handlerReturned(1)) == .nothing)
    #expect(state.handle(.handlerStarted) == .sendAnswer)
  }

  @Test("a late answer to an earlier request is not taken for the next one's")
  func lateAnswer() {
    var state = ExchangeState()
    for event in [ExchangeState.Event.began, .received(.whole), .handlerStarted, .abandoned] {
      _ = state.handle(event)
    }
    #expect(state.handle(.resultWanted) == .refuse)
    _ = state.handle(.ended)
    _ = state.handle(.began)
    #expect(state.handle(.handlerReturned(1)) == .nothing)
    #expect(state.phase == .receiving)
  }

  @Test("after a decision about the head the body is received, then the handler answers")
  func decision() {
    var state = ExchangeState()
    _ = state.handle(.began)
    #expect(state.handle(.received(.head)) == .startHandler)
    #expect(state.handle(.handlerStarted) == .suspend)
    #expect(state.handle(.handlerReturned(1)) == .resume)
    #expect(state.handle(.resultWanted) == .takeDecision)
    #expect(state.handle(.received(.whole)) == .startHandler)
    #expect(state.handle(.handlerReturned(1)) == .nothing)
    #expect(state.handle(.handlerStarted) == .sendAnswer)
  }

  @Test("a request whose head is being decided about is refused when the server stops")
  func abandonedDecision() {
    var state = ExchangeState()
    for event in [ExchangeState.Event.began, .received(.head), .handlerStarted] {
      _ = state.handle(event)
    }
    #expect(state.handle(.abandoned) == .resume)
    #expect(state.handle(.handlerReturned(1)) == .nothing)
    #expect(state.handle(.resultWanted) == .refuse)
  }

  @Test("an abandoned connection never sleeps again")
  func abandoned() {
    var state = ExchangeState()
    #expect(state.handle(.abandoned) == .nothing)
    _ = state.handle(.began)
    #expect(state.handle(.received(.whole)) == .refuse)
  }

  @Test("in every order of events, what is suspended is resumed once, and nothing else is")
  func everyOrder() {
    let events: [ExchangeState.Event] = [
      .began, .received(.head), .received(.whole), .handlerStarted, .handlerReturned(1),
      .resultWanted, .answeredEarly, .ended, .abandoned,
    ]
    var count = 0
    // Event-loop events do not happen while the connection is suspended; the others may.
    func visit(
      _ state: ExchangeState, isSuspended: Bool, isAbandoned: Bool, depth: Int, path: [String]
    ) {
      count += 1
      guard depth > 0 else { return }
      for event in events {
        let isFromLoop: Bool
        switch event {
        case .handlerReturned, .abandoned: isFromLoop = false
        default: isFromLoop = true
        }
        if isSuspended && isFromLoop { continue }
        var next = state
        let path = path + ["\(event)"]
        var suspended = isSuspended
        switch next.handle(event) {
        case .suspend:
          #expect(!suspended && !isAbandoned, "\(path)")
          suspended = true
        case .resume:
          #expect(suspended, "\(path)")
          suspended = false
        default: break
        }
        var abandoned = isAbandoned
        if case .abandoned = event {
          abandoned = true
          #expect(!suspended, "\(path)")
        }
        visit(
          next, isSuspended: suspended, isAbandoned: abandoned, depth: depth - 1, path: path)
      }
    }
    visit(ExchangeState(), isSuspended: false, isAbandoned: false, depth: 6, path: [])
    #expect(count > 10_000)
  }
}
