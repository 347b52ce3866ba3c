import CMicroHTTPD
import Foundation

extension Connection {
  /// Starts the handler's task and suspends the connection. `false` closes the connection. An
  /// overloaded server refuses the complete request instead.
  func startHandler(_ stage: ExchangeState.Stage, number: UInt64) -> Bool {
    guard var request = incoming.request else { return false }
    var ticket: Int?
    if stage == .whole, incoming.rules.mayBeOverdue {
      ticket = server.admission.withLock { $0.enter(at: .now) }
      guard ticket != nil else { return refuse(.overloaded) }
    }
    request.body = incoming.body
    request.bodyFile = incoming.bodyFile
    let task: Task<Void, Never>
    if stage == .head, let examine = server.examine {
      task = Task { [self, request] in
        let decision = await examine(request)
        handlerReturned(number: number) { $0.decision = decision }
      }
    } else {
      let handler = incoming.answer ?? server.handler
      task = Task { [self, request, ticket] in
        let response = await handler(request)
        if let ticket { server.admission.withLock { $0.leave(ticket) } }
        if !handlerReturned(number: number, { $0.response = response }) { response.ifUnsent?() }
      }
    }
    shared.withLock { $0.task = task }
    return answer(to: .handlerStarted)
  }

  /// Stores the handler's result and resumes the connection. Returns `false` for an earlier
  /// request. Runs in the handler's task.
  @discardableResult
  private func handlerReturned(number: UInt64, _ store: (inout Shared) -> Void) -> Bool {
    shared.withLock { shared in
      guard shared.exchange.number == number, case .handling = shared.exchange.phase else {
        return false
      }
      shared.task = nil
      store(&shared)
      if shared.exchange.handle(.handlerReturned(number)) == .resume { native.resume() }
      return true
    }
  }

  /// Sends the answer or does what was decided about the head. Without a result, suspends the
  /// connection until there is one. `false` closes the connection.
  func answer(to event: ExchangeState.Event) -> Bool {
    // The lock is held while the library suspends, so that no other thread resumes before that.
    let (action, response, decision) = shared.withLock { shared in
      let action = shared.exchange.handle(event)
      if action == .suspend { native.suspend() }
      defer {
        if action == .sendAnswer { shared.response = nil }
        if action == .takeDecision { shared.decision = nil }
      }
      return (action, shared.response, shared.decision)
    }
    switch action {
    case .suspend: return true
    case .takeDecision:
      incoming.isExamined = false
      switch decision {
      case .answer(let response):
        incoming.earlyAnswer = response
        return beginBody(incoming.reception.handle(.answered))
      case .receive(let account, let answer):
        incoming.memory.account = account
        incoming.file.account = account
        incoming.answer = answer
        return beginBody(.receive)
      case nil: return false
      }
    case .sendAnswer:
      guard let response else { return false }
      return send(response, closing: false)
    case .refuse: return refuse(.stopping)
    default: return false
    }
  }

  /// Sends the answer that the handler gave from the head. `false` closes the connection.
  func sendEarlyAnswer(closing: Bool) -> Bool {
    guard let response = incoming.earlyAnswer else { return false }
    incoming.earlyAnswer = nil
    _ = shared.withLock { $0.exchange.handle(.answeredEarly) }
    return send(response, closing: closing)
  }

  /// Sends an answer of the handler. `false` closes the connection.
  private func send(_ response: HTTPResponse, closing: Bool) -> Bool {
    incoming.isAnswered = true
    if let ifUnsent = response.ifUnsent {
      if native.isPeerClosed { ifUnsent() } else { incoming.ifUnsent = ifUnsent }
    }
    let stream = response.body.producer.map { producer in
      ResponseStream(
        connection: native, capacity: server.configuration.streamBuffer,
        progress: { [self] in progress($0) }, producer: producer)
    }
    let isAbandoned = shared.withLock { shared in
      shared.stream = stream
      return shared.exchange.isAbandoned
    }
    if isAbandoned { stream?.cut() }
    return queue(response, stream: stream, closing: closing || server.isStopping)
  }

  private func progress(_ event: Pace.Event) {
    shared.withLock { $0.pace.handle(event, at: .now) }
  }

  /// Sends an answer of the server itself, without the handler. `false` closes the connection.
  func refuse(_ refusal: HTTPRefusal, closing: Bool = false) -> Bool {
    incoming.refusal = refusal
    server.counters.countRefusal(refusal.reason)
    let configuration = server.configuration
    var response = refusal.response(body: configuration.refusalBody(refusal))
    response.headers += configuration.refusalHeaders(incoming.head?.headers ?? [])
    return queue(response, stream: nil, closing: closing || server.isStopping)
  }

  /// Gives the library an answer, or a 500 if it cannot be sent. `false` closes the connection.
  private func queue(_ response: HTTPResponse, stream: ResponseStream?, closing: Bool) -> Bool {
    let method = incoming.head?.method ?? ""
    // A stream may last for hours, and nothing needs these values any more.
    incoming.head?.target = ""
    incoming.head?.headers = []
    incoming.request = nil
    beginAnswer(response.body)
    do {
      let answer = try NativeResponse.make(
        response, to: method, stream: stream, progress: { [self] in progress($0) },
        closing: closing)
      return answer.queue(on: native, status: response.status)
    } catch {
      stream?.cut()
      let failure = error.response
      guard
        // Without memory for an answer the connection is closed.
        let answer = try? NativeResponse.make(
          failure, to: method, stream: nil, progress: { _ in }, closing: closing)
      else {
        return false
      }
      return answer.queue(on: native, status: failure.status)
    }
  }
}

extension Connection {
  /// Counts the bytes of the answer as buffered until it is sent, and starts the time limit of the
  /// client.
  fileprivate func beginAnswer(_ body: HTTPBody) {
    var size = 0
    if case .data(let data) = body {
      server.memory.withLock { $0.add(data.count, to: &incoming.memory) }
      if !NativeResponse.isReadInPieces(data) { size = data.count }
    }
    shared.withLock { $0.pace.handle(.answerBegan(size), at: .now) }
  }
}

extension HTTPBody {
  fileprivate var producer: (@Sendable (HTTPStreamWriter) async throws -> Void)? {
    switch self {
    case .data: nil
    case .stream(let producer), .streamOfLength(_, let producer): producer
    }
  }
}

extension HTTPRefusal {
  func response(body: Data) -> HTTPResponse {
    var headers = [("Content-Type", "application/json")]
    if let retryAfter { headers.append(("Retry-After", String(retryAfter))) }
    return HTTPResponse(status: status, headers: headers, body: .data(body))
  }
}
