import CMicroHTTPD
import Foundation

extension Connection {
  /// Starts the handler's task for the complete request and suspends the connection. An overloaded
  /// server refuses the request instead.
  ///
  /// - Returns: `false` to close the connection.
  func startHandler(number: UInt64) -> Bool {
    guard let head = incoming.head else { return false }
    var ticket: Int?
    if server.configuration.mayBeOverdue(head.method, RequestTarget(head.target).path) {
      ticket = server.admission.withLock { $0.enter(at: .now) }
      guard ticket != nil else { return refuse(.overloaded) }
    }
    let request = HTTPRequest(
      method: head.method, target: head.target, headers: head.headers, body: incoming.body,
      bodyFile: incoming.bodyFile, remoteAddress: remoteAddress,
      isFromSocketFile: isOfSocketFile)
    let task = Task { [self, ticket] in
      let response = await server.handler(request)
      if let ticket { server.admission.withLock { $0.leave(ticket) } }
      handlerReturned(response, number: number)
    }
    shared.withLock { $0.task = task }
    return answer(to: .handlerStarted)
  }

  /// Stores the handler's answer and resumes the connection. Runs in the handler's task; an answer
  /// to an earlier request is dropped.
  private func handlerReturned(_ response: HTTPResponse, number: UInt64) {
    let isLate = shared.withLock { shared in
      guard shared.exchange.number == number, case .handling = shared.exchange.phase else {
        return true
      }
      shared.task = nil
      shared.response = response
      if let producer = response.body.producer {
        shared.stream = ResponseStream(
          connection: native, capacity: server.configuration.streamBuffer, producer: producer)
      }
      if shared.exchange.handle(.handlerReturned(number)) == .resume { native.resume() }
      return false
    }
    if isLate { response.ifUnsent?() }
  }

  /// Sends the answer if there is one, or suspends the connection until there is.
  ///
  /// - Returns: `false` to close the connection.
  func answer(to event: ExchangeState.Event) -> Bool {
    // The lock is held while the library suspends, so that no other thread resumes before that.
    let (action, response, stream) = shared.withLock { shared in
      let action = shared.exchange.handle(event)
      if action == .suspend { native.suspend() }
      guard action == .sendAnswer else { return (action, HTTPResponse?.none, shared.stream) }
      defer { shared.response = nil }
      return (action, shared.response, shared.stream)
    }
    switch action {
    case .suspend: return true
    case .sendAnswer:
      guard let response else { return false }
      incoming.isAnswered = true
      if let ifUnsent = response.ifUnsent {
        if native.isPeerClosed { ifUnsent() } else { incoming.ifUnsent = ifUnsent }
      }
      return queue(response, stream: stream, closing: server.isStopping)
    case .refuse: return refuse(.stopping)
    default: return false
    }
  }

  /// Sends an answer of the server itself, without the handler.
  ///
  /// - Returns: `false` to close the connection.
  func refuse(_ refusal: HTTPRefusal, closing: Bool = false) -> Bool {
    incoming.refusal = refusal
    server.counters.countRefusal(refusal.reason)
    let configuration = server.configuration
    var response = refusal.response(body: configuration.refusalBody(refusal))
    response.headers += configuration.refusalHeaders(incoming.head?.headers ?? [])
    return queue(response, stream: nil, closing: closing || server.isStopping)
  }

  /// Gives an answer to the library. An answer that cannot be sent becomes a 500.
  ///
  /// - Returns: `false` to close the connection.
  private func queue(_ response: HTTPResponse, stream: ResponseStream?, closing: Bool) -> Bool {
    let method = incoming.head?.method ?? ""
    // A stream may last for hours, and nothing needs these values any more.
    incoming.head?.target = ""
    incoming.head?.headers = []
    beginAnswer(response.body)
    do {
      let answer = try NativeResponse.make(
        response, to: method, stream: stream, closing: closing)
      return answer.queue(on: native, status: response.status)
    } catch {
      stream?.cut()
      let failure = error.response
      guard
        // Without memory for an answer the connection is closed.
        let answer = try? NativeResponse.make(
          failure, to: method, stream: nil, closing: closing)
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
    if case .data(let data) = body {
      incoming.answerSize = data.count
      _ = server.counters.bufferedBytes.add(data.count)
    }
    shared.withLock { $0.pace.handle(.answerBegan(size: body.knownSize), at: .now) }
  }
}

extension HTTPBody {
  /// The size of the body in bytes; `nil` for a stream of unknown length.
  fileprivate var knownSize: Int? {
    switch self {
    case .data(let data): data.count
    case .streamOfLength(let count, _): count
    case .stream: nil
    }
  }

  /// The writer of a stream; `nil` for a body in memory.
  fileprivate var producer: (@Sendable (HTTPStreamWriter) async throws -> Void)? {
    switch self {
    case .data: nil
    case .stream(let producer), .streamOfLength(_, let producer): producer
    }
  }
}

extension HTTPRefusal {
  /// Returns the answer for a refusal, with `Retry-After` where it has one.
  func response(body: Data) -> HTTPResponse {
    var headers = [("Content-Type", "application/json")]
    if let retryAfter { headers.append(("Retry-After", String(retryAfter))) }
    return HTTPResponse(status: status, headers: headers, body: .data(body))
  }
}
