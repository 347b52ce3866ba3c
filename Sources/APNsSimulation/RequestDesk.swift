import CloudKitModel
import Dispatch
import HTTP2Transport
import Synchronization

/// Takes each request from the server to the ``SimulatedService``, does what that decides, and
/// publishes it.
final class RequestDesk: Sendable {
  private struct State {
    var service: SimulatedService
    var connections: [HTTP2ConnectionID: SimulatedService.Connection] = [:]
    /// Set while the server runs; it holds the desk in turn.
    var server: HTTP2Server?
  }

  private let state: Mutex<State>
  private let publisher: PushPublisher
  private let clock: @Sendable () -> Timestamp
  /// How many streams a connection gets when it is first trusted; nil if it has them already.
  private let streamsWhenTrusted: Int?

  init(
    _ service: SimulatedService, publisher: PushPublisher, streamsWhenTrusted: Int?,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    state = Mutex(State(service: service))
    self.publisher = publisher
    self.streamsWhenTrusted = streamsWhenTrusted
    self.clock = clock
  }

  func open(at server: HTTP2Server) {
    state.withLock { $0.server = server }
  }

  func close() {
    state.withLock { $0.server = nil }
  }

  /// Changes the rules or the script.
  func change(_ body: (inout SimulatedService) -> Void) {
    state.withLock { body(&$0.service) }
  }

  func handle(_ event: HTTP2Server.Event) {
    guard case .closed(let connection, _) = event else { return }
    state.withLock { $0.connections[connection] = nil }
  }

  func handle(_ request: HTTP2ServerRequest) {
    let now = clock()
    let (push, reaction, isNewlyTrusted, server) = state.withLock { state in
      var connection =
        state.connections[request.connection]
        ?? SimulatedService.Connection(number: Int(request.connection.rawValue))
      let wasTrusted = connection.isTrusted
      let (push, reaction) = state.service.receive(
        SimulatedRequest(request), stream: request.stream, on: &connection, now: now)
      state.connections[request.connection] = connection
      return (push, reaction, connection.isTrusted && !wasTrusted, state.server)
    }
    // Published first, so that who has the answer finds the push among those received.
    publisher.publish(push)
    guard let server else { return }
    if isNewlyTrusted, let streamsWhenTrusted {
      server.setMaximumConcurrentStreams(streamsWhenTrusted, for: request.connection)
    }
    perform(reaction, on: request, server)
  }

  private func perform(
    _ reaction: SimulatedService.Reaction, on request: HTTP2ServerRequest, _ server: HTTP2Server
  ) {
    switch reaction {
    case .answer(let response, let delay) where delay > 0:
      DispatchQueue.global().asyncAfter(deadline: .now() + delay) { request.respond(response) }
    case .answer(let response, _):
      request.respond(response)
    case .stall:
      break
    case .reset(let code):
      server.reset(stream: request.stream, of: request.connection, code: code)
    case .goAway:
      // Clients number their streams 1, 3, 5, …, so the one before is two less.
      server.goAway(request.connection, lastStream: max(0, request.stream - 2))
    case .disconnect:
      server.close(request.connection, .atOnce)
    case .freeze:
      server.stall(request.connection)
    }
  }
}

extension SimulatedRequest {
  init(_ request: HTTP2ServerRequest) {
    self.init(
      method: request.method, path: request.path,
      headers: request.headers.filter { !$0.name.hasPrefix(":") }, body: request.body)
  }
}
