import CloudKitModel
import Dispatch
import HTTP2Transport
import Synchronization

/// The handler of the server's requests and events. For each request, it asks the
/// ``SimulatedService`` for a decision and carries the decision out. It passes the request to the
/// ``PushPublisher`` as a push. A lock protects the state.
final class RequestHandler: Sendable {
  /// The values that the lock protects.
  private struct State {
    var service: SimulatedService
    var connections: [HTTP2ConnectionID: SimulatedService.Connection] = [:]
    var gatherings: [HTTP2ConnectionID: Gathering] = [:]
    /// The number of concurrent requests that a connection permits after a request has passed all
    /// checks. Before, it permits one. Nil if connections permit the full number from the start.
    var streamsWhenTrusted: Int?
    /// The server; nil before ``open(at:)`` and after ``close()``. The server and the handler refer
    /// to each other, so ``close()`` must end the cycle.
    var server: HTTP2Server?
  }

  /// The requests of a connection that are collected for a GOAWAY.
  private struct Gathering {
    var plan: APNsFault.GoAwayPlan
    var requests: [(request: HTTP2ServerRequest, push: ReceivedPush)] = []
  }

  private let state: Mutex<State>
  private let publisher: PushPublisher
  private let clock: @Sendable () -> Timestamp
  private let handshake: @Sendable (APNsHandshakeFault) -> HTTP2Server.Handshake

  /// Creates a handler without a server.
  ///
  /// - Parameter streamsWhenTrusted: the number of concurrent requests that a connection permits
  ///   after a request has passed all checks. Before, it permits one. Nil if connections permit the
  ///   full number from the start.
  init(
    _ service: SimulatedService, publisher: PushPublisher, streamsWhenTrusted: Int?,
    handshake: @escaping @Sendable (APNsHandshakeFault) -> HTTP2Server.Handshake = { _ in .refused
    },
    clock: @escaping @Sendable () -> Timestamp
  ) {
    state = Mutex(State(service: service, streamsWhenTrusted: streamsWhenTrusted))
    self.publisher = publisher
    self.handshake = handshake
    self.clock = clock
  }

  /// Stores the server and applies the settings at the beginning of the script. Call it before the
  /// server starts.
  func open(at server: HTTP2Server) {
    state.withLock { $0.server = server }
    change { _ in }
  }

  /// Forgets the server. Later requests get no answer.
  func close() {
    state.withLock { $0.server = nil }
  }

  /// Changes the rules or the script, and then applies the settings that are due.
  func change(_ body: (inout SimulatedService) -> Void) {
    let (settings, server) = state.withLock { state in
      body(&state.service)
      // Settings wait in the script until there is a server to change.
      return state.server == nil ? ([], nil) : (state.service.takeSettings(), state.server)
    }
    if let server { apply(settings, to: server) }
  }

  /// Handles an event of a connection. Keeps the certificate that a client showed. When a
  /// connection ends, publishes the collected requests as not processed.
  func handle(_ event: HTTP2Server.Event) {
    switch event {
    case .opened:
      break
    case .identified(let id, let certificate):
      state.withLock { state in
        var connection = SimulatedService.Connection(number: Int(id.rawValue))
        connection.certificate = certificate
        state.connections[id] = connection
      }
    case .closed(let id, _):
      let gathering = state.withLock { state in
        state.connections[id] = nil
        return state.gatherings.removeValue(forKey: id)
      }
      for var (_, push) in gathering?.requests ?? [] {
        push.note = "not processed: the connection ended first"
        publisher.publish(push)
      }
    }
  }

  /// Handles a request: publishes it as a push, carries out the decision, and applies the settings
  /// that are due.
  func handle(_ request: HTTP2ServerRequest) {
    let now = clock()
    let (push, reaction, streams, settings, server) = state.withLock { state in
      var connection =
        state.connections[request.connection]
        ?? SimulatedService.Connection(number: Int(request.connection.rawValue))
      let wasTrusted = connection.isTrusted
      let (push, reaction) = state.service.receive(
        SimulatedRequest(request), stream: request.stream, on: &connection, now: now)
      state.connections[request.connection] = connection
      let streams = connection.isTrusted && !wasTrusted ? state.streamsWhenTrusted : nil
      return (push, reaction, streams, state.service.takeSettings(), state.server)
    }
    if case .gather(let plan) = reaction {
      gather(request, push, plan)
    } else {
      // The push is published before the answer, so that a sender that has the answer also finds
      // the push.
      publisher.publish(push)
    }
    guard let server else { return }
    if let streams { server.setMaximumConcurrentStreams(streams, for: request.connection) }
    perform(reaction, on: request, server)
    apply(settings, to: server)
  }

  private func perform(
    _ reaction: SimulatedService.Reaction, on request: HTTP2ServerRequest, _ server: HTTP2Server
  ) {
    switch reaction {
    case .answer(let response, let delay) where delay > 0:
      DispatchQueue.global().asyncAfter(deadline: .now() + delay) { request.respond(response) }
    case .answer(let response, _):
      request.respond(response)
    case .stall, .gather:
      break
    case .reset(let code):
      server.reset(stream: request.stream, of: request.connection, code: code)
    case .goAway:
      // Clients number their streams 1, 3, 5, …, so the number of the stream before is two less.
      server.goAway(request.connection, lastStream: max(0, request.stream - 2))
    case .disconnect:
      server.close(request.connection, .atOnce)
    case .freeze:
      server.stall(request.connection)
    }
  }

  private func apply(_ settings: [APNsSetting], to server: HTTP2Server) {
    for setting in settings {
      switch setting {
      case .streams(let count):
        setStreams(count, server)
      case .readDelay(let seconds):
        server.setReadDelay(seconds.map { .seconds($0) })
      case .handshakes(let faults):
        server.script(faults.map(handshake))
      case .requestsPerConnection, .providerTokenLifetime:
        break
      }
    }
  }

  /// Sets the number of concurrent requests. A connection that permits only one request until a
  /// request has passed all checks gets the number then.
  private func setStreams(_ count: Int, _ server: HTTP2Server) {
    let trusted: [HTTP2ConnectionID]? = state.withLock { state in
      guard state.streamsWhenTrusted != nil else { return nil }
      state.streamsWhenTrusted = count
      return state.connections.filter(\.value.isTrusted).map(\.key)
    }
    guard let trusted else { return server.setMaximumConcurrentStreams(count) }
    for connection in trusted { server.setMaximumConcurrentStreams(count, for: connection) }
  }

  // MARK: GOAWAY in the middle

  /// Keeps a request for a GOAWAY, and ends the collection if it has enough requests. The first
  /// request of a collection also starts the time limit.
  ///
  /// - Parameter plan: the plan, with the first request of a collection; nil with the others.
  private func gather(
    _ request: HTTP2ServerRequest, _ push: ReceivedPush, _ plan: APNsFault.GoAwayPlan?
  ) {
    let connection = request.connection
    let isWhole = state.withLock { state in
      if let plan { state.gatherings[connection] = Gathering(plan: plan) }
      guard state.gatherings[connection] != nil else { return false }
      state.gatherings[connection]?.requests.append((request, push))
      return state.gatherings[connection].map { $0.requests.count >= $0.plan.gathers } ?? false
    }
    if isWhole {
      finishGathering(on: connection)
    } else if let plan {
      DispatchQueue.global().asyncAfter(deadline: .now() + plan.patience) { [weak self] in
        self?.finishGathering(on: connection)
      }
    }
  }

  /// Sends GOAWAY, answers the first of the collected requests as the plan says, and publishes all
  /// of them. Does nothing if the connection has no collection.
  private func finishGathering(on connection: HTTP2ConnectionID) {
    let (gathering, server) = state.withLock { state in
      let gathering = state.gatherings.removeValue(forKey: connection)
      if let gathering {
        let answers = min(gathering.plan.answers, gathering.requests.count)
        let first = gathering.requests[0].request.stream
        state.connections[connection]?.firstGivenBack =
          answers == 0 ? first : gathering.requests[answers - 1].request.stream + 2
      }
      return (gathering, state.server)
    }
    guard let gathering else { return }
    let answered = gathering.requests.prefix(gathering.plan.answers)
    for var (_, push) in gathering.requests.dropFirst(answered.count) {
      push.note = "fault: not processed, because of GOAWAY"
      publisher.publish(push)
    }
    for var (_, push) in answered {
      push.status = 200
      push.note = "fault: answered after GOAWAY"
      publisher.publish(push)
    }
    let last = answered.last?.request.stream ?? gathering.requests[0].request.stream - 2
    server?.goAway(
      connection, lastStream: max(0, last),
      debugData: gathering.plan.reason.map { Array(#"{"reason":"\#($0.rawValue)"}"#.utf8) } ?? [])
    for (request, _) in answered {
      request.respond(SimulatedService.acceptance(of: SimulatedRequest(request)))
    }
  }
}

extension SimulatedRequest {
  /// Creates the request without its pseudo-headers, whose names begin with a colon.
  init(_ request: HTTP2ServerRequest) {
    self.init(
      method: request.method, path: request.path,
      headers: request.headers.filter { !$0.name.hasPrefix(":") }, body: request.body)
  }
}
